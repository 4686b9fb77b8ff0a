#!/usr/bin/env python3
"""A stand-in for api.github.com: issues, comments, draft pull requests of one repository.

Rules, each with the page of docs.github.com/en/rest it comes from. With --repo DIR a
branch counts as pushed when that work tree has it: pushing is not the agent's.
"""
import json
import re
import subprocess

from standin import Refused, Service, main, read_json

PAGES = "https://docs.github.com/rest"


def error(status, message, errors=None):
    """/using-the-rest-api/troubleshooting-the-rest-api: message, errors, documentation_url."""
    body = {"message": message, "documentation_url": PAGES, "status": str(status)}
    if errors:
        body["errors"] = errors
    return Refused(status, body)


class GitHub(Service):
    def __init__(self, arguments):
        super().__init__(arguments)
        self.pulls = []

    def answer(self, method, path, query, headers, body):
        # /using-the-rest-api/getting-started-with-the-rest-api#user-agent
        if not headers.get("User-Agent"):
            raise error(403, "Request forbidden by administrative rules. Please make sure your "
                        "request has a User-Agent header.")
        # /using-the-rest-api/troubleshooting-the-rest-api: bad credentials
        if headers.get("Authorization") != f"Bearer {self.arguments.token}":
            raise error(401, "Bad credentials")
        # /about-the-rest-api/api-versions: an unknown version is 400
        if headers.get("X-GitHub-Api-Version", "2022-11-28") != "2022-11-28":
            raise error(400, "X-GitHub-Api-Version is not a supported version")
        repository = "/repos/" + self.data["github"]["repository"]
        for wanted, pattern, answer in (
                ("GET", r"/issues", self.issues),
                ("GET", r"/issues/(\d+)", self.issue),
                ("GET", r"/issues/(\d+)/comments", self.comments),
                ("POST", r"/issues/(\d+)/comments", self.comment),
                ("POST", r"/pulls", self.pull)):
            found = re.fullmatch(re.escape(repository) + pattern, path)
            if found and method == wanted:
                with self.lock:
                    return answer(query, body, *found.groups())
        raise error(404, "Not Found")

    def page(self, items, query):
        """/using-the-rest-api/using-pagination-in-the-rest-api: per_page at most 100."""
        size = min(int(query.get("per_page", ["30"])[0]), 100)
        number = int(query.get("page", ["1"])[0])
        return items[(number - 1) * size:number * size]

    def issues(self, query, body):
        state = query.get("state", ["open"])[0]
        items = [i for i in self.data["github"]["issues"] if state in ("all", i["state"])]
        labels = query.get("labels", [""])[0].split(",")
        items = [i for i in items if all(l in [x["name"] for x in i["labels"]] for l in labels if l)]
        return 200, self.page(items, query), {}

    def find(self, number):
        for issue in self.data["github"]["issues"]:
            if issue["number"] == int(number):
                return issue
        raise error(404, "Not Found")

    def issue(self, query, body, number):
        return 200, self.find(number), {}

    def comments(self, query, body, number):
        self.find(number)
        return 200, self.page(self.data["github"]["comments"].get(number, []), query), {}

    # /issues/comments#create-an-issue-comment: 201
    def comment(self, query, body, number):
        self.find(number)
        text = read_json(body, error(400, "Problems parsing JSON")).get("body")
        if not text:
            raise error(422, "Validation Failed", [{"resource": "IssueComment", "code": "missing_field",
                                                    "field": "body"}])
        comments = self.data["github"]["comments"].setdefault(number, [])
        comments.append({"id": 1000 + len(comments), "user": {"login": "agent"}, "body": text,
                         "created_at": "2026-11-30T00:00:00Z",
                         "html_url": f"https://github.example/issues/{number}#{len(comments)}"})
        return 201, comments[-1], {}

    # /pulls/pulls#create-a-pull-request: 201, or 422 where the branch is missing or has one
    def pull(self, query, body):
        wanted = read_json(body, error(400, "Problems parsing JSON"))
        for name in ("title", "head", "base"):
            if not wanted.get(name):
                raise error(422, "Validation Failed", [{"resource": "PullRequest", "code":
                                                        "missing_field", "field": name}])
        if not self.has_branch(wanted["head"]):
            raise error(422, "Validation Failed", [{"resource": "PullRequest", "field": "head",
                                                    "code": "invalid"}])
        if not self.arguments.forget and any(p["head"]["ref"] == wanted["head"] for p in self.pulls):
            raise error(422, "Validation Failed", [{"resource": "PullRequest", "code": "custom", "message":
                        f"A pull request already exists for team:{wanted['head']}."}])
        pull = {"number": 100 + len(self.pulls), "state": "open", "draft": bool(wanted.get("draft")),
                "title": wanted["title"], "body": wanted.get("body"), "head": {"ref": wanted["head"]},
                "base": {"ref": wanted["base"]},
                "html_url": f"https://github.example/pull/{100 + len(self.pulls)}"}
        self.pulls.append(pull)
        if self.arguments.state:
            with open(self.arguments.state, "w", encoding="utf-8") as state:
                json.dump(self.pulls, state, ensure_ascii=False, indent=1)
        return 201, pull, {}

    def has_branch(self, name):
        if not self.arguments.repo:
            return True
        return subprocess.run(["git", "-C", self.arguments.repo, "rev-parse", "--verify", "--quiet",
                               f"refs/heads/{name}"], capture_output=True, check=False).returncode == 0


def more(parser):
    parser.add_argument("--repo", help="a work tree whose branches count as pushed")
    parser.add_argument("--forget", action="store_true", help="take a second pull request for a branch")
    parser.add_argument("--state", help="write the pull requests here after each change")


if __name__ == "__main__":
    main(GitHub, __doc__, more)
