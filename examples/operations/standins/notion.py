#!/usr/bin/env python3
"""A stand-in for api.notion.com: search, a database's pages, a page, its blocks.

Rules, each with the page of developers.notion.com/reference it comes from.
"""
import re

from standin import Pace, Refused, Service, main, read_json


def error(status, code, message, headers=None):
    """/status-codes: an error is an object with status, code and message."""
    return Refused(status, {"object": "error", "status": status, "code": code, "message": message},
                   headers)


class Notion(Service):
    def __init__(self, arguments):
        super().__init__(arguments)
        self.pace = Pace(arguments.per_second)

    def answer(self, method, path, query, headers, body):
        # /authentication: every request carries the integration's token.
        if headers.get("Authorization") != f"Bearer {self.arguments.token}":
            raise error(401, "unauthorized", "API token is invalid.")
        # /versioning: the header is required.
        if not headers.get("Notion-Version"):
            raise error(400, "missing_version", "Notion-Version header failed validation: "
                        "Notion-Version header should be defined, instead was `undefined`.")
        # /request-limits: an average of three requests a second, then 429 with Retry-After.
        if not self.pace.take():
            raise error(429, "rate_limited", "You have been rate limited. Please try again in a "
                        "few minutes.", {"Retry-After": "1"})
        if self.arguments.moved:
            raise Refused(302, {}, {"Location": self.arguments.moved})
        for wanted, pattern, answer in (
                ("POST", r"/v1/search", self.search),
                ("POST", r"/v1/databases/([^/]+)/query", self.query_database),
                ("GET", r"/v1/pages/([^/]+)", self.page),
                ("GET", r"/v1/blocks/([^/]+)/children", self.blocks)):
            found = re.fullmatch(pattern, path)
            if found and method == wanted:
                return 200, answer(query, body, *found.groups()), {}
        raise error(400, "invalid_request_url", "Invalid request URL.")

    def cut(self, items, size, cursor):
        """/intro#pagination: page_size is at most 100; next_cursor is opaque."""
        size = int(size or 100)
        if not 1 <= size <= 100:
            raise error(400, "validation_error", f"body failed validation: body.page_size should "
                        f"be ≤ `100`, instead was `{size}`.")
        if cursor is not None and not str(cursor).startswith("cursor-"):
            raise error(400, "validation_error", f"The start_cursor provided is invalid: {cursor}")
        begin = int(cursor[7:]) if cursor else 0
        size = min(size, self.arguments.page_size)
        rest = begin + size < len(items)
        return {"object": "list", "results": items[begin:begin + size],
                "next_cursor": f"cursor-{begin + size}" if rest else None, "has_more": rest}

    def body(self, body):
        # /status-codes: invalid_json
        return read_json(body, error(400, "invalid_json", "Error parsing JSON body."))

    def missing(self, kind, id):
        # /status-codes: object_not_found, also for what was not shared with the integration.
        return error(404, "object_not_found", f"Could not find {kind} with ID: {id}. Make sure the "
                     "relevant pages and databases are shared with your integration.")

    def search(self, query, body):
        wanted = self.body(body)
        words = wanted.get("query", "").lower()
        pages = [p for p in self.data["notion"]["pages"] if words in title(p).lower()]
        kind = wanted.get("filter", {}).get("value")
        if kind == "database":
            pages = []
        return self.cut(pages, wanted.get("page_size"), wanted.get("start_cursor"))

    def query_database(self, query, body, id):
        wanted = self.body(body)
        if id.replace("-", "") != self.data["notion"]["database"]:
            raise self.missing("database", id)
        for name in wanted:
            # /status-codes: validation_error, for members that the endpoint does not take.
            if name not in ("filter", "sorts", "start_cursor", "page_size"):
                raise error(400, "validation_error", f"body failed validation: body.{name} should "
                            "be not present.")
        pages = self.data["notion"]["pages"]
        wanted_filter = wanted.get("filter")
        if wanted_filter:
            name = wanted_filter.get("property")
            if pages and name not in pages[0]["properties"]:
                raise error(400, "validation_error",
                            f"Could not find property with name or id: {name}")
            value = (wanted_filter.get("select") or {}).get("equals")
            pages = [p for p in pages if (p["properties"][name].get("select") or {}).get("name") == value]
        return self.cut(pages, wanted.get("page_size"), wanted.get("start_cursor"))

    def page(self, query, body, id):
        for page in self.data["notion"]["pages"]:
            if page["id"] == id.replace("-", ""):
                return page
        raise self.missing("page", id)

    def blocks(self, query, body, id):
        blocks = self.data["notion"]["blocks"].get(id.replace("-", ""))
        if blocks is None:
            raise self.missing("block", id)
        return self.cut(blocks, query.get("page_size", [None])[0], query.get("start_cursor", [None])[0])


def title(page):
    return "".join(t["plain_text"] for p in page["properties"].values() if p["type"] == "title"
                   for t in p["title"])


def more(parser):
    parser.add_argument("--page-size", type=int, default=100, help="of an answer, at most")
    parser.add_argument("--moved", help="answer every request with a redirect to this address")
    parser.add_argument("--per-second", type=int, default=3)


if __name__ == "__main__":
    main(Notion, __doc__, more)
