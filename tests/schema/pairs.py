"""Generated schemas with values for them: lines of {"schema":…, "values":[…]}.

Seeded. Values are made by a walk over the schema that mostly obeys it, so that
about half of them fit. Numbers stay where doubles are exact, apart from the class
`decimals`, in which Ajv's arithmetic is known to differ.
"""
import json
import random

KEYS = ["a", "b", "c", "name", "kind", "한글", "x1"]
WORDS = ["", "a", "ab", "abc", "가나", "😀", "x1", "2026", "aa b", "A"]
PATTERNS = ["^a", "b$", "^[a-c]*$", "\\d", "^.{2}$", "^\\p{L}+$", "^[^a]+$", "x|가"]


class Pairs:
    def __init__(self, seed, decimals=False):
        self.r = random.Random(seed)
        self.decimals = decimals

    def number(self):
        r = self.r
        if self.decimals and r.random() < 0.6:
            return round(r.randrange(-300, 300) / r.choice([10, 100]), 2)
        return r.choice([0, 1, 2, 3, 5, -1, -4, 10, 1.5, 2.0, 7.25, 100])

    def scalar(self):
        r = self.r
        return r.choice([None, True, False, r.choice(WORDS), self.number(), self.number()])

    def value(self, depth=2):
        r = self.r
        kind = r.random()
        if depth == 0 or kind < 0.5:
            return self.scalar()
        if kind < 0.75:
            return [self.value(depth - 1) for _ in range(r.choice([0, 1, 2, 3]))]
        return {k: self.value(depth - 1) for k in r.sample(KEYS, r.choice([0, 1, 2, 3]))}

    def schema(self, depth=3, root=False):
        r = self.r
        if not root and (depth == 0 or r.random() < 0.08):
            return r.choice([True, True, False, {}, {"type": r.choice(["string", "integer", "null"])}])
        made = {}
        for _ in range(r.choice([1, 1, 2, 3])):
            getattr(self, r.choice(self.KINDS))(made, depth - 1)
        if root:
            made["$defs"] = {"d": self.leaf(), "e": {"$anchor": "e", **self.leaf()}}
        return made

    KINDS = ["types", "words", "numbers", "items", "items", "members", "members", "members",
             "choice", "choice", "values", "condition", "ref", "rest"]

    def leaf(self):
        made = {}
        getattr(self, self.r.choice(["types", "words", "numbers", "values"]))(made, 0)
        return made

    def types(self, s, depth):
        names = ["string", "number", "integer", "boolean", "null", "array", "object"]
        s["type"] = self.r.choice([self.r.choice(names), self.r.sample(names, 3)])

    def words(self, s, depth):
        r = self.r
        s[r.choice(["minLength", "maxLength"])] = r.choice([0, 1, 2, 3, 2.0])
        if r.random() < 0.5:
            s["pattern"] = r.choice(PATTERNS)

    def numbers(self, s, depth):
        r = self.r
        s[r.choice(["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"])] = self.number()
        if r.random() < 0.4:
            s["multipleOf"] = r.choice([0.1, 0.01, 0.3, 2.5]) if self.decimals else r.choice([1, 2, 3, 0.5])

    def values(self, s, depth):
        if self.r.random() < 0.5:
            s["const"] = self.value(1)
        else:
            values = []
            for _ in range(self.r.choice([1, 2, 4, 12])):
                value = self.value(1)
                if json.dumps(value, sort_keys=True) not in [json.dumps(v, sort_keys=True) for v in values]:
                    values.append(value)
            s["enum"] = values

    def items(self, s, depth):
        r = self.r
        for keyword, chance in (("prefixItems", 0.4), ("items", 0.5), ("contains", 0.3)):
            if r.random() < chance:
                s[keyword] = [self.schema(depth) for _ in range(r.choice([1, 2]))] \
                    if keyword == "prefixItems" else self.schema(depth)
        for keyword in ("minItems", "maxItems", "minContains", "maxContains"):
            if r.random() < 0.15:
                s[keyword] = r.choice([0, 1, 2, 3])
        if r.random() < 0.25:
            s["uniqueItems"] = r.choice([True, True, False])

    def members(self, s, depth):
        r = self.r
        s["properties"] = {k: self.schema(depth) for k in r.sample(KEYS, r.choice([1, 2, 3]))}
        if r.random() < 0.4:
            s["required"] = r.sample(KEYS, r.choice([1, 2]))
        if r.random() < 0.3:
            s["additionalProperties"] = self.schema(depth)
        if r.random() < 0.2:
            s["patternProperties"] = {r.choice(PATTERNS): self.schema(depth)}
        if r.random() < 0.15:
            s["propertyNames"] = {"maxLength": r.choice([1, 2, 4])}
        if r.random() < 0.15:
            s["dependentRequired"] = {r.choice(KEYS): [r.choice(KEYS)]}
        if r.random() < 0.15:
            s["dependentSchemas"] = {r.choice(KEYS): self.schema(depth)}
        if r.random() < 0.15:
            s[r.choice(["minProperties", "maxProperties"])] = r.choice([0, 1, 2, 3])

    def choice(self, s, depth):
        r = self.r
        keyword = r.choice(["allOf", "anyOf", "oneOf", "not"])
        s[keyword] = self.schema(depth) if keyword == "not" else \
            [self.schema(depth) for _ in range(r.choice([1, 2, 3]))]

    def condition(self, s, depth):
        s["if"] = self.schema(depth)
        for keyword in ("then", "else"):
            if self.r.random() < 0.7:
                s[keyword] = self.schema(depth)

    def ref(self, s, depth):
        s["$ref"] = self.r.choice(["#/$defs/d", "#e"])

    def rest(self, s, depth):
        s[self.r.choice(["unevaluatedProperties", "unevaluatedItems"])] = self.schema(depth)

    def fitting(self, s, depth=4):
        """A value that the schema would mostly take."""
        r = self.r
        if depth == 0 or not isinstance(s, dict) or r.random() < 0.1:
            return self.value(1)
        if "const" in s:
            return s["const"]
        if "enum" in s:
            return r.choice(s["enum"])
        for keyword in ("anyOf", "oneOf", "allOf"):
            if keyword in s and r.random() < 0.6:
                return self.fitting(r.choice(s[keyword]), depth - 1)
        kinds = s.get("type", [])
        kinds = [kinds] if isinstance(kinds, str) else list(kinds)
        if "properties" in s or "object" in kinds:
            keys = list(s.get("properties", {})) + list(s.get("required", [])) + r.sample(KEYS, 1)
            return {k: self.fitting(s.get("properties", {}).get(k, True), depth - 1)
                    for k in keys if r.random() < 0.8}
        if any(k in s for k in ("prefixItems", "items", "contains", "minItems")) or "array" in kinds:
            first = [self.fitting(one, depth - 1) for one in s.get("prefixItems", [])]
            rest = s.get("items", s.get("contains", True))
            return first + [self.fitting(rest, depth - 1) for _ in range(r.choice([0, 1, 2]))]
        if "string" in kinds or "minLength" in s or "pattern" in s:
            return r.choice(WORDS)
        if any(k in s for k in ("minimum", "maximum", "multipleOf")) or "integer" in kinds:
            return self.number()
        return self.value(2)

    def pair(self, values=1):
        schema = self.schema(root=True)
        return {"schema": schema, "values": [self.fitting(schema) for _ in range(values)]}


def write(path, pairs):
    with open(path, "w", encoding="utf-8") as out:
        for pair in pairs:
            out.write(json.dumps(pair, ensure_ascii=False) + "\n")
