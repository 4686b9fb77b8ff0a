/* Code points and properties of the u flag: read here, written for PCRE2 as
 * pieces of a class, which emit.c puts in place.
 */
#include "regex/wide.h"

#include "base/utf8.h"

void wide_drop_halves(struct bits *b) {
  for (size_t i = 0xd800 / 64; i < 0xe000 / 64; i++)
    b->word[i] = 0;
}

void wide_write(struct buf *out, uint32_t from, uint32_t to) {
  buf_fmt(out, "\\x{%x}", from);
  if (to > from) buf_fmt(out, "-\\x{%x}", to);
}

void wide_add(struct parse *p, uint32_t from, uint32_t to) {
  if (from < WIDE_FIRST) bits_add(p->bits, from, to < WIDE_FIRST ? to : WIDE_FIRST - 1);
  if (to >= WIDE_FIRST) wide_write(&p->more, from < WIDE_FIRST ? WIDE_FIRST : from, to);
}

struct node *wide_point(struct parse *p, struct node *parent, size_t at, uint32_t cp) {
  bool half = cp >= 0xd800 && cp < 0xe000;
  if (cp < WIDE_FIRST && !half) return parse_unit(p, parent, at, (uint16_t)cp);
  parse_set_start(p);
  if (!half) wide_add(p, cp, cp);
  return parse_set(p, parent, at, false);
}

static int hex_value(int32_t c) {
  if (c >= '0' && c <= '9') return c - '0';
  int32_t lower = c | 0x20;
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/* uXXXX at `ahead`; -1: no such. */
static int32_t four(const struct parse *p, size_t ahead) {
  int32_t v = 0;
  if (parse_peek(p, ahead) != 'u') return -1;
  for (size_t k = 1; k <= 4; k++) {
    int digit = hex_value(parse_peek(p, ahead + k));
    if (digit < 0) return -1;
    v = v * 16 + digit;
  }
  return v;
}

/* u{X…} from here; -1: no such. */
static int32_t braced(const struct parse *p, size_t *taken) {
  int32_t v = 0;
  size_t k = 2;
  if (parse_peek(p, 0) != 'u' || parse_peek(p, 1) != '{') return -1;
  for (; hex_value(parse_peek(p, k)) >= 0 && v <= (int32_t)WIDE_LAST; k++)
    v = v * 16 + hex_value(parse_peek(p, k));
  *taken = k + 1;
  return k > 2 && v <= (int32_t)WIDE_LAST && parse_peek(p, k) == '}' ? v : -1;
}

bool wide_read_point(struct parse *p, uint32_t *cp) {
  size_t taken = 5;
  int32_t v = braced(p, &taken);
  if (v < 0) {
    taken = 5;
    v = four(p, 0);
    bool high = v >= 0xd800 && v < 0xdc00 && parse_peek(p, 5) == '\\';
    int32_t low = high ? four(p, 6) : -1;
    if (low >= 0xdc00 && low < 0xe000) {
      v = 0x10000 + ((v & 0x3ff) << 10) + (low & 0x3ff);
      taken = 11;
    }
  }
  if (v < 0) return false;
  *cp = (uint32_t)v;
  p->i += taken;
  return true;
}

static bool is_letter(int32_t c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool wide_allows(struct parse *p, size_t at) {
  int32_t c = parse_peek(p, 0), next = parse_peek(p, 1);
  if (!is_letter(c) || strchr("bBdDsSwWfnrtvpP", (char)c)) return true;
  bool control = c == 'c' && is_letter(next);
  bool hex = c == 'x' && hex_value(next) >= 0 && hex_value(parse_peek(p, 2)) >= 0;
  bool name = c == 'k' && p->tree->names;
  if (control || hex || name) return true;
  return parse_fail(p, at, T_REGEX_LETTER, tree_source(p->tree, at, p->i + 1));
}

/* ---- properties ------------------------------------------------------------ */

/* General_Category by JavaScript's long names; PCRE2 has the short ones. */
static const struct {
  const char *name, *pcre;
} categories[] = {{"Letter", "L"},
                  {"Cased_Letter", "L&"},
                  {"LC", "L&"},
                  {"Uppercase_Letter", "Lu"},
                  {"Lowercase_Letter", "Ll"},
                  {"Titlecase_Letter", "Lt"},
                  {"Modifier_Letter", "Lm"},
                  {"Other_Letter", "Lo"},
                  {"Mark", "M"},
                  {"Combining_Mark", "M"},
                  {"Nonspacing_Mark", "Mn"},
                  {"Spacing_Mark", "Mc"},
                  {"Enclosing_Mark", "Me"},
                  {"Number", "N"},
                  {"Decimal_Number", "Nd"},
                  {"digit", "Nd"},
                  {"Letter_Number", "Nl"},
                  {"Other_Number", "No"},
                  {"Punctuation", "P"},
                  {"punct", "P"},
                  {"Connector_Punctuation", "Pc"},
                  {"Dash_Punctuation", "Pd"},
                  {"Open_Punctuation", "Ps"},
                  {"Close_Punctuation", "Pe"},
                  {"Initial_Punctuation", "Pi"},
                  {"Final_Punctuation", "Pf"},
                  {"Other_Punctuation", "Po"},
                  {"Symbol", "S"},
                  {"Math_Symbol", "Sm"},
                  {"Currency_Symbol", "Sc"},
                  {"Modifier_Symbol", "Sk"},
                  {"Other_Symbol", "So"},
                  {"Separator", "Z"},
                  {"Space_Separator", "Zs"},
                  {"Line_Separator", "Zl"},
                  {"Paragraph_Separator", "Zp"},
                  {"Other", "C"},
                  {"Control", "Cc"},
                  {"cntrl", "Cc"},
                  {"Format", "Cf"},
                  {"Surrogate", "Cs"},
                  {"Private_Use", "Co"},
                  {"Unassigned", "Cn"}};

static const char *const short_categories[] = {
    "L",  "Lu", "Ll", "Lt", "Lm", "Lo", "M",  "Mn", "Mc", "Me", "N",  "Nd", "Nl",
    "No", "P",  "Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po", "S",  "Sm", "Sc", "Sk",
    "So", "Z",  "Zs", "Zl", "Zp", "C",  "Cc", "Cf", "Cs", "Co", "Cn"};

/* Those that JavaScript and PCRE2 call the same. */
static const char *const binary[] = {"ASCII",
                                     "ASCII_Hex_Digit",
                                     "Alphabetic",
                                     "Any",
                                     "Bidi_Control",
                                     "Case_Ignorable",
                                     "Cased",
                                     "Dash",
                                     "Default_Ignorable_Code_Point",
                                     "Diacritic",
                                     "Emoji",
                                     "Emoji_Component",
                                     "Emoji_Modifier",
                                     "Emoji_Modifier_Base",
                                     "Emoji_Presentation",
                                     "Extended_Pictographic",
                                     "Extender",
                                     "Grapheme_Base",
                                     "Grapheme_Extend",
                                     "Hex_Digit",
                                     "ID_Continue",
                                     "ID_Start",
                                     "Ideographic",
                                     "Lowercase",
                                     "Math",
                                     "Quotation_Mark",
                                     "Sentence_Terminal",
                                     "Terminal_Punctuation",
                                     "Unified_Ideograph",
                                     "Uppercase",
                                     "White_Space",
                                     "XID_Continue",
                                     "XID_Start"};

static bool is_listed(const char *const *list, size_t n, struct str name) {
  for (size_t i = 0; i < n; i++)
    if (str_is(name, list[i])) return true;
  return false;
}

static struct str category(struct str name) {
  for (size_t i = 0; i < sizeof categories / sizeof *categories; i++)
    if (str_is(name, categories[i].name)) return str_of(categories[i].pcre);
  if (is_listed(short_categories, sizeof short_categories / sizeof *short_categories, name))
    return name;
  return STR_NONE;
}

/* What PCRE2 calls it, into out; nothing: it is not known. Of scripts only PCRE2
 * has the list; a name it does not know is refused by regex.c. */
static void put_name(struct buf *out, struct str name) {
  struct str key, value;
  if (!str_split(name, '=', &key, &value)) {
    bool known = is_listed(binary, sizeof binary / sizeof *binary, name);
    buf_put(out, known ? name : category(name));
  } else if (str_is(key, "General_Category") || str_is(key, "gc")) {
    buf_put(out, category(value));
  } else if (str_is(key, "Script") || str_is(key, "sc")) {
    buf_lit(out, "sc:");
    buf_put(out, value);
  } else if (str_is(key, "Script_Extensions") || str_is(key, "scx")) {
    buf_lit(out, "scx:");
    buf_put(out, value);
  }
}

static bool is_name(struct str s) {
  for (size_t i = 0; i < s.n; i++) {
    if (!is_letter(s.p[i]) && s.p[i] != '_' && s.p[i] != '=') return false;
  }
  return s.n > 0 && s.p[s.n - 1] != '=';
}

bool wide_property(struct parse *p, size_t at) {
  char room[80];
  struct buf name = {.p = room, .cap = sizeof room, .max = sizeof room - 1};
  bool outside = parse_peek(p, 0) == 'P';
  size_t from = ++p->i + 1;
  while (parse_peek(p, 0) != '}' && parse_peek(p, 0) != PARSE_END)
    p->i++;
  bool closed = parse_take(p, '}');
  struct str source = tree_source(p->tree, from, closed ? p->i - 1 : from);
  bool good = closed && p->tree->units[from - 1] == '{' && is_name(source);
  if (good) put_name(&name, source);
  if (name.n == 0 || name.fail)
    return parse_fail(p, at, T_REGEX_PROPERTY, tree_source(p->tree, at, p->i));
  buf_lit(&p->more, "\\");
  buf_c(&p->more, outside ? 'P' : 'p');
  buf_c(&p->more, '{');
  buf_put(&p->more, buf_str(&name));
  buf_c(&p->more, '}');
  return true;
}
