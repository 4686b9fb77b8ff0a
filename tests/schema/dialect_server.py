"""Providers that refuse tool schemas as the real ones do, error bodies included.

Written from the fact sheet "strict-schema" (REIN_SHARED/wire/strict-schema.md), not
from rein's table: a second reading of the same facts. refusal() is the check alone,
Provider an HTTP server that refuses with it, or plays a reply on the wire it was asked on.

    check = refusal("anthropic-strict", [{"name", "strict", "schema"}])   # None, or (status, body)
"""
import http.server
import json
import re
import threading

ANTHROPIC_KEY = re.compile(r"^[a-zA-Z0-9_.-]{1,64}$")
NAME_64 = re.compile(r"^[a-zA-Z0-9_-]{1,64}$")
GEMINI_NAME = re.compile(r"^[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}$")
GEMINI_KEY = re.compile(r"^[a-zA-Z_][a-zA-Z0-9_]{0,63}$")
TYPES = ["string", "integer", "number", "boolean", "array", "object", "null"]

# section 1: what strict mode takes, and what was added in 2025
OPENAI_2024 = {"type", "properties", "required", "additionalProperties", "items", "enum", "const",
               "anyOf", "$ref", "$defs", "title", "description"}
OPENAI_NOW = OPENAI_2024 | {"pattern", "format", "multipleOf", "minimum", "maximum", "exclusiveMinimum",
                            "exclusiveMaximum", "minItems", "maxItems"}
OPENAI_FORMATS = {"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"}
OPENAI_LIMITS = {
    "openai-strict-2024": dict(properties=100, depth=5, chars=15000, enums=500, long=7500),
    "openai-strict": dict(properties=5000, depth=10, chars=120000, enums=1000, long=15000)}
# section 2
ANTHROPIC_FORMATS = OPENAI_FORMATS | {"uri"}
ANTHROPIC_STRICT = {"type", "properties", "required", "additionalProperties", "items", "enum", "const",
                    "anyOf", "allOf", "$ref", "$defs", "definitions", "default", "title", "description",
                    "format", "minItems", "pattern"}
# section 3: members of the message Schema
GEMINI = {"type", "format", "title", "description", "nullable", "enum", "items", "minItems", "maxItems",
          "minLength", "maxLength", "minProperties", "maxProperties", "minimum", "maximum", "pattern",
          "properties", "required", "propertyOrdering", "anyOf", "default", "example"}
# section 4: what fails or is dangerous in a grammar
LLAMA_BAD = {"pattern", "format", "minLength", "maxLength", "minItems", "maxItems", "prefixItems",
             "patternProperties", "uniqueItems", "contains", "minContains", "maxContains", "not", "if",
             "then", "else", "dependentSchemas", "dependentRequired", "$anchor", "propertyNames",
             "unevaluatedProperties", "unevaluatedItems", "multipleOf"}


class Refused(Exception):
    pass


def under(schema):
    """(word, child) of every schema right below."""
    for word in ("properties", "$defs", "definitions", "patternProperties"):
        for key, child in (schema.get(word) or {}).items():
            yield (word, key), child
    for word in ("items", "additionalProperties", "not", "if", "then", "else"):
        if isinstance(schema.get(word), dict):
            yield (word,), schema[word]
    for word in ("anyOf", "oneOf", "allOf", "prefixItems"):
        for i, child in enumerate(schema.get(word) or []):
            yield (word, str(i)), child


def names_of(schema):
    kind = schema.get("type")
    return kind if isinstance(kind, list) else [kind] if kind else []


# ---- OpenAI ---------------------------------------------------------------------

class OpenAIStrict:
    def __init__(self, dialect):
        self.words = OPENAI_2024 if dialect == "openai-strict-2024" else OPENAI_NOW
        self.limits = OPENAI_LIMITS[dialect]
        self.count = dict(properties=0, depth=0, chars=0, enums=0, long=0)

    def fail(self, at, words):
        raise Refused(f"In context={at!r}, {words}")

    def check(self, schema, at=(), depth=0, root=None):
        root = schema if root is None else root
        if not isinstance(schema, dict):
            self.fail(at, "schema must be an object")
        for word in schema:
            if word not in self.words:
                self.fail(at, f"'{word}' is not permitted.")
        if "$ref" in schema:
            self.ref(schema, at, root)
            return
        if not at and schema.get("type") != "object":
            raise Refused(f"schema must be a JSON Schema of 'type: \"object\"', got 'type: \"{schema.get('type')}\"'.")
        if not at and "anyOf" in schema:
            self.fail(at, "'anyOf' is not permitted at the root.")
        if "type" not in schema and "anyOf" not in schema:
            self.fail(at, "schema must have a 'type' key.")
        if "anyOf" in schema and set(schema) - {"anyOf", "description", "title"}:
            self.fail(at, "'anyOf' stands beside other keywords.")
        kinds = names_of(schema)
        if any(k not in TYPES for k in kinds) or len([k for k in kinds if k != "null"]) > 1:
            self.fail(at, "'type' is not permitted.")
        if isinstance(schema.get("description", ""), str) is False:
            self.fail(at, "'description' is not a string.")
        depth += bool({"object", "array"} & set(kinds))
        self.count["depth"] = max(self.count["depth"], depth)
        self.values(schema, at)
        if "object" in kinds:
            self.object(schema, at)
        elif {"properties", "required", "additionalProperties"} & set(schema):
            self.fail(at, "object keywords without an object.")
        if "array" in kinds and not isinstance(schema.get("items"), dict):
            self.fail(at, "array schema missing items.")
        if "format" in schema and schema["format"] not in OPENAI_FORMATS:
            self.fail(at, f"'{schema['format']}' is not a valid format.")
        self.first_keys(schema, at, root)
        for way, child in under(schema):
            self.check(child, at + way, 0 if way[0] == "$defs" else depth, root)

    def ref(self, schema, at, root):
        if set(schema) != {"$ref"}:
            self.fail(at, "'$ref' cannot have keywords beside it.")
        node = root
        if not schema["$ref"].startswith("#"):
            self.fail(at, "remote '$ref' is not permitted.")
        for step in schema["$ref"][1:].split("/")[1:]:
            node = node.get(step.replace("~1", "/").replace("~0", "~")) if isinstance(node, dict) else None
            if node is None:
                self.fail(at, f"reference to component '{schema['$ref']}' which was not found.")

    def values(self, schema, at):
        values = list(schema.get("enum", [])) + ([schema["const"]] if "const" in schema else [])
        if "enum" in schema and not schema["enum"]:
            self.fail(at, "'enum' is empty.")
        if any(isinstance(v, (dict, list)) for v in values):
            self.fail(at, "'enum' values must be scalars.")
        kinds = names_of(schema)
        for v in values:
            kind = ("null" if v is None else "boolean" if isinstance(v, bool) else
                    "string" if isinstance(v, str) else
                    "integer" if float(v).is_integer() else "number")
            if kinds and kind not in kinds and not (kind == "integer" and "number" in kinds):
                self.fail(at, f"enum value {v!r} does not validate against {kinds}.")
        sizes = [len(v) if isinstance(v, str) else len(json.dumps(v)) for v in values]
        self.count["enums"] += len(schema.get("enum", []))
        self.count["chars"] += sum(sizes)
        if len(values) > 250:
            self.count["long"] = max(self.count["long"], sum(sizes))

    def object(self, schema, at):
        properties = schema.get("properties")
        if not isinstance(properties, dict):
            self.fail(at, "object schema missing properties.")
        if schema.get("additionalProperties") is not False:
            self.fail(at, "'additionalProperties' is required to be supplied and to be false.")
        required = schema.get("required")
        for key in properties:
            if not isinstance(required, list) or key not in required:
                self.fail(at, "'required' is required to be supplied and to be an array including every key "
                              f"in properties. Missing '{key}'.")
        for key in required or []:
            if key not in properties:
                self.fail(at, f"Extra required key '{key}' supplied.")
        self.count["properties"] += len(properties)
        self.count["chars"] += sum(map(len, properties)) + sum(map(len, schema.get("$defs", {})))

    def first_keys(self, schema, at, root):
        seen = []
        for branch in schema.get("anyOf", []):
            if branch.get("$ref") == "#":
                branch = root
            elif "$ref" in branch:
                branch = root["$defs"].get(branch["$ref"].split("/")[-1], {})
            seen += list(branch.get("properties", {}))[:1]
        if len(seen) != len(set(seen)):
            self.fail(at, "Objects provided via 'anyOf' must not share identical first keys.")

    def done(self):
        for what, most in self.limits.items():
            if self.count[what] > most:
                raise Refused(f"Expected at most {most} of {what}, got {self.count[what]}.")


def openai_loose(schema):
    if not isinstance(schema, dict) or schema.get("type") != "object":
        kind = schema.get("type") if isinstance(schema, dict) else None
        raise Refused(f"schema must be a JSON Schema of 'type: \"object\"', got 'type: \"{kind}\"'.")
    if "properties" not in schema:
        raise Refused("In context=(), object schema missing properties.")
    for word in ("oneOf", "anyOf", "allOf", "enum", "not"):
        if word in schema:
            raise Refused(f"schema must have type 'object' and not have '{word}' at the top level.")

    def walk(s, at):
        if "array" in names_of(s) and not isinstance(s.get("items"), dict):
            raise Refused(f"In context={at!r}, array schema missing items.")
        if not str(s.get("$ref", "#")).startswith("#"):
            raise Refused(f"In context={at!r}, remote '$ref' is not permitted.")
        for way, child in under(s):
            if isinstance(child, dict):
                walk(child, at + way)
    walk(schema, ())


def openai(dialect, tools, chat=False):
    if len(tools) > 128:
        return 400, {"error": {"message": f"Invalid 'tools': array too long. Expected an array with maximum "
                               f"length 128, but got an array with length {len(tools)} instead.",
                               "type": "invalid_request_error", "param": "tools",
                               "code": "array_above_max_length"}}
    names = [t["name"] for t in tools]
    for i, tool in enumerate(tools):
        where = f"tools[{i}].function" if chat else f"tools[{i}]"
        if not NAME_64.match(tool["name"]) or names.index(tool["name"]) != i:
            return 400, {"error": {"message": f"Invalid '{where}.name': string does not match pattern.",
                                   "type": "invalid_request_error", "param": f"{where}.name",
                                   "code": "invalid_value"}}
        try:
            if tool["strict"] and dialect in OPENAI_LIMITS:
                check = OpenAIStrict(dialect)
                check.check(tool["schema"])
                check.done()
            else:
                openai_loose(tool["schema"])
        except Refused as e:
            return 400, {"error": {"message": f"Invalid schema for function '{tool['name']}': {e}",
                                   "type": "invalid_request_error", "param": f"{where}.parameters",
                                   "code": "invalid_function_parameters"}}
    return None


# ---- Anthropic -------------------------------------------------------------------

def anthropic_strict(s, root, counts, trail=()):
    if not isinstance(s, dict):
        raise Refused("schema is not an object")
    kinds = names_of(s)
    kind = kinds[0] if kinds else "any"
    bad = sorted(set(s) - ANTHROPIC_STRICT)
    if bad:
        raise Refused(f"For '{kind}' type, properties {', '.join(bad)} are not supported")
    if "$ref" in s:
        if s["$ref"] in trail or s["$ref"] == "#" or not s["$ref"].startswith("#/$defs/"):
            raise Refused("recursive or external $ref is not supported")
        anthropic_strict(root["$defs"][s["$ref"].split("/")[-1]], root, counts, trail + (s["$ref"],))
        return
    if not kinds and not any(w in s for w in ("anyOf", "allOf", "enum", "const")):
        raise Refused("a schema without a type is not supported")
    if "object" in kinds:
        if s.get("additionalProperties") is not False:
            raise Refused("For 'object' type, 'additionalProperties' must be explicitly set to false")
        counts["optional"] += len(set(s.get("properties", {})) - set(s.get("required", [])))
        if set(s.get("required", [])) - set(s.get("properties", {})):
            raise Refused("required property is not defined")
    counts["union"] += "anyOf" in s or isinstance(s.get("type"), list)
    if "array" in kinds and not isinstance(s.get("items"), dict):
        raise Refused("For 'array' type, 'items' is required")
    if s.get("minItems", 0) not in (0, 1):
        raise Refused("For 'array' type, 'minItems' values other than 0 or 1 are not supported")
    if "format" in s and s["format"] not in ANTHROPIC_FORMATS:
        raise Refused(f"For 'string' type, format {s['format']} is not supported")
    if re.search(r"\\[1-9bB]|\(\?[=!<]|\{\d{4,}", s.get("pattern", "")):
        raise Refused("For 'string' type, this pattern is not supported")
    if any(isinstance(v, (dict, list)) for v in s.get("enum", [])):
        raise Refused("enum of scalars alone is supported")
    for way, child in under(s):
        if way[0] not in ("$defs", "definitions"):
            anthropic_strict(child, root, counts, trail)


def anthropic_loose(s, at=()):
    """A valid schema of 2020-12, as far as the words go."""
    if isinstance(s, bool):
        return
    if not isinstance(s, dict):
        raise Refused("JSON schema is invalid. It must match JSON Schema draft 2020-12")
    if any(k not in TYPES for k in names_of(s)) or isinstance(s.get("items"), list):
        raise Refused("JSON schema is invalid. It must match JSON Schema draft 2020-12")
    if "$schema" in s and "2020-12" not in s["$schema"]:
        raise Refused("JSON schema is invalid. It must match JSON Schema draft 2020-12")
    if not str(s.get("$ref", "#")).startswith("#"):
        raise Refused("remote $ref is not supported")
    for way, child in under(s):
        anthropic_loose(child, at + way)


def anthropic(tools):
    counts = {"optional": 0, "union": 0}
    strict = sum(t["strict"] for t in tools)

    def error(message):
        return 400, {"type": "error", "error": {"type": "invalid_request_error", "message": message}}
    if strict > 20:
        return error(f"Too many strict tools ({strict}). The maximum number of strict tools supported is 20.")
    names = [t["name"] for t in tools]
    for i, tool in enumerate(tools):
        s = tool["schema"]
        if not NAME_64.match(tool["name"]):
            return error(f"tools.{i}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{{1,64}}$'")
        if names.index(tool["name"]) != i:
            return error("tools: Tool names must be unique.")
        if not isinstance(s, dict) or s.get("type") != "object":
            return error(f"tools.{i}.custom.input_schema.type: Input should be 'object'")
        if any(w in s for w in ("oneOf", "allOf", "anyOf")):
            return error(f"tools.{i}.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf "
                         "at the top level")
        if not all(ANTHROPIC_KEY.match(k) for k in s.get("properties", {})):
            return error(f"tools.{i}.custom.input_schema.properties: Property keys should match pattern "
                         "'^[a-zA-Z0-9_.-]{1,64}$'")
        try:
            anthropic_loose(s)
            if tool["strict"]:
                anthropic_strict(s, s, counts)
        except Refused as e:
            return error(f"tools.{i}.custom: {e}")
    if counts["optional"] > 24:
        return error(f"Schemas contain too many optional parameters ({counts['optional']}), limit: 24")
    if counts["union"] > 16:
        return error(f"Schemas contain too many parameters with union types ({counts['union']}), limit: 16")
    return None


# ---- Gemini, llama.cpp -------------------------------------------------------------

def gemini_schema(s, at):
    if not isinstance(s, dict):
        raise Refused(f"Invalid value at '{at}'")
    for word in s:
        if word not in GEMINI:
            raise Refused(f"Invalid JSON payload received. Unknown name \"{word}\" at '{at}': Cannot find field.")
    if "type" in s and s["type"] not in TYPES[:-1]:
        raise Refused(f"Invalid value at '{at}.type' (type.googleapis.com), {s['type']!r}")
    if "type" not in s and "anyOf" not in s:
        raise Refused(f"{at}.type: must be specified")
    if any(not isinstance(v, str) or not v for v in s.get("enum", [])) or s.get("enum") == []:
        raise Refused(f"Invalid value at '{at}.enum' (TYPE_STRING)")
    if s.get("type") == "array" and not isinstance(s.get("items"), dict):
        raise Refused(f"{at}.items: missing field.")
    if s.get("type") == "string" and s.get("format", "enum") not in ("enum", "date-time"):
        raise Refused(f"{at}.format: only 'enum' and 'date-time' are supported for STRING type")
    for key in s.get("properties", {}):
        if not GEMINI_KEY.match(key):
            raise Refused(f"{at}.properties: invalid name \"{key}\"")
    for key in s.get("required", []):
        if key not in s.get("properties", {}):
            raise Refused(f"{at}.required: property is not defined: {key}")
    for way, child in under(s):
        gemini_schema(child, at + "." + ".".join(way))


def gemini(tools):
    names = [t["name"] for t in tools]
    for i, tool in enumerate(tools):
        try:
            if not GEMINI_NAME.match(tool["name"]) or names.index(tool["name"]) != i:
                raise Refused(f"Invalid function name {tool['name']!r}")
            if tool["schema"].get("type") != "object":
                raise Refused("parameters must be an OBJECT")
            if "anyOf" in tool["schema"]:
                raise Refused("anyOf at the root")
            gemini_schema(tool["schema"], f"tools[0].function_declarations[{i}].parameters")
        except Refused as e:
            return 400, {"error": {"code": 400, "message": str(e), "status": "INVALID_ARGUMENT"}}
    return None


def grammar(s):
    bad = LLAMA_BAD & set(s)
    if bad or any(w in s and "properties" in s for w in ("anyOf", "oneOf")):
        raise Refused("Failed to initialize samplers: failed to parse grammar")
    if "$ref" in s:
        raise Refused("Failed to initialize samplers: failed to parse grammar")
    bounds = {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"} & set(s)
    if bounds and (set(names_of(s)) - {"null"} != {"integer"} or any(s[b] != int(s[b]) for b in bounds)):
        raise Refused("JSON schema conversion failed: " + json.dumps(s))
    for _, child in under(s):
        if not isinstance(child, dict):
            raise Refused("JSON schema conversion failed: Unrecognized schema: " + json.dumps(child))
        grammar(child)


def llama(tools):
    for tool in tools:
        try:
            if tool["schema"].get("type") != "object":
                raise Refused("JSON schema conversion failed: " + json.dumps(tool["schema"]))
            grammar(tool["schema"])
        except Refused as e:
            return 400, {"error": {"code": 400, "message": str(e), "type": "invalid_request_error"}}
    return None


def refusal(dialect, tools, chat=False):
    if dialect.startswith("openai"):
        return openai(dialect, tools, chat)
    if dialect.startswith("anthropic"):
        return anthropic(tools)
    return gemini(tools) if dialect == "gemini" else llama(tools)


# ---- the server ----------------------------------------------------------------------

def tools_of(wire, body):
    """(name, strict, schema) of a request, as each wire has them."""
    out = []
    for tool in body.get("tools", []):
        inner = tool["function"] if wire == "chat" else tool
        schema = inner["input_schema"] if wire == "anthropic" else inner["parameters"]
        out.append({"name": inner["name"], "strict": inner.get("strict", False), "schema": schema})
    return out


def sse(*events):
    return "".join("data: " + json.dumps(e, ensure_ascii=False) + "\n\n" for e in events)


def anthropic_stream(calls, text):
    blocks = [{"type": "tool_use", "id": f"toolu_{i}", "name": n, "input": {}} for i, (n, _) in enumerate(calls)]
    parts = [{"type": "input_json_delta", "partial_json": a} for _, a in calls]
    if not calls:
        blocks, parts = [{"type": "text", "text": ""}], [{"type": "text_delta", "text": text}]
    made = [{"type": "message_start", "message": {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [], "stop_reason": None,
        "stop_sequence": None, "usage": {"input_tokens": 9, "output_tokens": 1}}}]
    for i, (block, part) in enumerate(zip(blocks, parts)):
        made += [{"type": "content_block_start", "index": i, "content_block": block},
                 {"type": "content_block_delta", "index": i, "delta": part},
                 {"type": "content_block_stop", "index": i}]
    made += [{"type": "message_delta", "delta": {"stop_reason": "tool_use" if calls else "end_turn",
                                                 "stop_sequence": None}, "usage": {"output_tokens": 9}},
             {"type": "message_stop"}]
    return "".join(f"event: {e['type']}\n" + sse(e) for e in made)


def responses_stream(calls, text):
    output = [{"type": "function_call", "id": f"fc_{i}", "call_id": f"call_{i}", "name": n, "arguments": a,
               "status": "completed"} for i, (n, a) in enumerate(calls)]
    output = output or [{"type": "message", "role": "assistant", "id": "m", "content": [
        {"type": "output_text", "text": text}]}]
    return sse({"type": "response.completed", "response": {"id": "r", "output": output}})


def chat_stream(calls, text):
    delta = {"content": text}
    if calls:
        delta = {"tool_calls": [{"index": i, "id": f"call_{i}", "type": "function",
                                 "function": {"name": n, "arguments": a}} for i, (n, a) in enumerate(calls)]}
    choice = {"index": 0, "delta": delta, "finish_reason": "tool_calls" if calls else "stop"}
    return sse({"id": "c", "model": "m", "choices": [choice]}) + "data: [DONE]\n\n"


STREAMS = {"anthropic": anthropic_stream, "openai": responses_stream, "chat": chat_stream}
PATHS = {"/messages": "anthropic", "/responses": "openai", "/chat/completions": "chat"}


class Provider:
    """A provider on loopback that takes what the dialect takes, and answers the i-th request
    it took with replies[i], a list of (name, arguments as text) or words; "done" when they
    are used up. Keeps .seen, (wire, body, refusal) of every request.

        with Provider("openai-strict-2024", [[("pick", "{}")]]) as p: ... p.url ...
    """

    def __init__(self, dialect, replies=(), also=None):
        """also(tools): a refusal of its own, or None."""
        provider = self
        self.dialect, self.replies, self.also, self.seen, self.took = dialect, list(replies), also, [], 0

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                status, kind, text = provider.answer(self.path, body)
                self.send_response(status)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(text.encode())))
                self.end_headers()
                self.wfile.write(text.encode())

            def log_message(self, *words):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True)

    def answer(self, path, body):
        wire = next(w for end, w in PATHS.items() if path.endswith(end))
        tools = tools_of(wire, body)
        no = refusal(self.dialect, tools, wire == "chat") or (self.also(tools) if self.also else None)
        self.seen.append((wire, body, no))
        if no:
            return no[0], "application/json", json.dumps(no[1])
        reply = self.replies[self.took] if self.took < len(self.replies) else "done"
        self.took += 1
        calls = reply if isinstance(reply, list) else []
        return 200, "text/event-stream", STREAMS[wire](calls, reply if not calls else "")

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *why):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()
