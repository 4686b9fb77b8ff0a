#!/usr/bin/env python3
"""A stand-in for api.airtable.com: list, create and update records of one base.

Rules, each with the page of airtable.com/developers/web/api it comes from.
"""
import json
import re
import urllib.parse

from standin import Pace, Refused, Service, main, read_json


def error(status, type, message):
    """/errors: an object with type and message."""
    return Refused(status, {"error": {"type": type, "message": message}})


class Airtable(Service):
    def __init__(self, arguments):
        super().__init__(arguments)
        self.pace = Pace(arguments.per_second)
        self.records = self.data["airtable"]["records"]

    def answer(self, method, path, query, headers, body):
        # /authentication
        if headers.get("Authorization") != f"Bearer {self.arguments.token}":
            raise error(401, "AUTHENTICATION_REQUIRED", "Authentication required")
        # /rate-limits: five requests a second for each base, then 429 and a wait of 30 s.
        if not self.pace.take():
            raise Refused(429, {"errors": [{"error": "RATE_LIMIT_REACHED", "message":
                                            "Rate limit exceeded. Please try again later"}]})
        found = re.fullmatch(r"/v0/(app\w{14})/([^/]+)", path)
        table = urllib.parse.unquote(found.group(2)) if found else None
        # /errors: what is not there, or not to be seen, is the same NOT_FOUND.
        if not found or found.group(1) != self.data["airtable"]["base"]:
            raise Refused(404, {"error": "NOT_FOUND"})
        if table not in (self.data["airtable"]["table"], self.data["airtable"]["table_id"]):
            raise error(403, "INVALID_PERMISSIONS_OR_MODEL_NOT_FOUND",
                        "Invalid permissions, or the requested model was not found. Check that both "
                        "your user and your token have the required permissions, and that the model "
                        "names and/or ids are correct.")
        with self.lock:
            return 200, {"GET": self.list, "POST": self.create, "PATCH": self.update}[method](
                query, body), {}

    # /list-records: pageSize at most 100, offset opaque, filterByFormula, fields[].
    def list(self, query, body):
        size = int(query.get("pageSize", ["100"])[0])
        if not 1 <= size <= 100:
            raise error(422, "INVALID_PAGE_SIZE", "pageSize must be between 1 and 100")
        records = self.records
        formula = query.get("filterByFormula", [None])[0]
        if formula is not None:
            equal = re.fullmatch(r'\{(.+?)\}\s*=\s*"(.*)"', formula)
            if not equal:
                raise error(422, "INVALID_FILTER_BY_FORMULA", "The formula for filtering records is "
                            "invalid: Invalid formula. Please check your formula text.")
            records = [r for r in records if r["fields"].get(equal[1]) == equal[2]]
        begin = int(query.get("offset", ["itr/0"])[0].split("/")[-1])
        size = min(size, self.arguments.page_size)
        answer = {"records": [self.some(r, query.get("fields[]")) for r in records[begin:begin + size]]}
        if begin + size < len(records):
            answer["offset"] = f"itr/{begin + size}"
        return answer

    def some(self, record, names):
        fields = record["fields"]
        return {**record, "fields": {n: fields[n] for n in names if n in fields} if names else fields}

    def wanted(self, body):
        value = read_json(body, error(400, "INVALID_REQUEST_BODY", "Could not parse request body"))
        records = value.get("records")
        # /update-multiple-records, /create-records: up to ten at once.
        if not isinstance(records, list) or not 1 <= len(records) <= 10:
            raise error(422, "INVALID_REQUEST", "Invalid request: parameter validation failed. "
                        "Check your request data.")
        for record in records:
            for name in record.get("fields", {}):
                if name not in self.data["airtable"]["fields"]:
                    raise error(422, "UNKNOWN_FIELD_NAME", f'Unknown field name: "{name}"')
        return records

    def create(self, query, body):
        made = []
        for wanted in self.wanted(body):
            record = {"id": f"rec{len(self.records):014d}", "createdTime": "2026-11-30T00:00:00.000Z",
                      "fields": wanted["fields"]}
            self.records.append(record)
            made.append(record)
        self.keep()
        return {"records": made}

    def update(self, query, body):
        wanted = self.wanted(body)
        by_id = {r["id"]: r for r in self.records}
        for one in wanted:
            if one.get("id") not in by_id:
                raise error(422, "ROW_DOES_NOT_EXIST", f"Record ID {one.get('id')} does not exist")
        for one in wanted:
            by_id[one["id"]]["fields"].update(one["fields"])
        self.keep()
        return {"records": [by_id[one["id"]] for one in wanted]}

    def keep(self):
        if self.arguments.state:
            with open(self.arguments.state, "w", encoding="utf-8") as state:
                json.dump(self.records, state, ensure_ascii=False, indent=1)


def more(parser):
    parser.add_argument("--page-size", type=int, default=100, help="of an answer, at most")
    parser.add_argument("--per-second", type=int, default=5)
    parser.add_argument("--state", help="write the records here after each change")


if __name__ == "__main__":
    main(Airtable, __doc__, more)
