// Compares src/regex with the JavaScript engine that runs this:
//   node differ.mjs HELPER PAIRS|unicode:PAIRS|units|units-all SEED [ARGUMENT…]
// With "unicode:": the u flag, as a schema's patterns have it.
// With "units": every unit of the BMP in each class, and the case of those that
// have one ("units-all": of all).
// Generates patterns and subjects, asks the engine, asks HELPER (test_regex, its
// arguments behind the seed), and prints one JSON object: what was compared,
// what was refused, and every difference. A pattern must be an error in both, or
// answer each subject alike, place and length of the match included, or be
// refused with a sentence that says it is a limit or not supported.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import vm from 'node:vm';

const [, , helper, mode, seedText, ...helperArgs] = process.argv;
const unicode = mode.startsWith('unicode:');
const wanted = Number(unicode ? mode.slice(8) : mode);

// A small generator of our own: the same pairs for the same seed, everywhere.
let state = Number(seedText) >>> 0 || 1;
function random(n) {
  state = (state + 0x6d2b79f5) >>> 0;
  let t = state;
  t = Math.imul(t ^ (t >>> 15), t | 1);
  t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
  return ((t ^ (t >>> 14)) >>> 0) % n;
}
const pick = (list) => list[random(list.length)];
const chance = (percent) => random(100) < percent;

const LETTERS = ['a', 'b', 'a', 'b', 'c', 'A', 'B', '0', '1', '_', '-', ' '];
const WIDE = ['가', '나', '한', '글', 'é', 'É', 'ſ', 's', 'K', 'k', 'ß', 'ẞ', 'İ', 'ı', 'i', 'I', 'µ', 'μ', 'Μ',
  'σ', 'ς', 'Σ', 'ÿ', 'Ÿ', 'ǆ', 'ǅ', 'Ǆ', '\u00a0', '\ufeff', '\u2028', '\u2029', '\u3000', '\u200b', '\u180e',
  '\n', '\r', '\v', '\f', '\t', '\u0085', '🙂', '🙃', '𐐀', '𐐨', '１', '٣', '\ud7ff', '\ue000', '\uffff', '\0', '\x08', '\x1f'];
const SOUP = ['\\A', '\\z', '\\Z', '\\Q', '\\E', '\\G', '\\K', '\\R', '\\h', '\\H', '\\N', '\\X', '\\p{L}', '\\P{L}', '\\u{61}',
  '\\u{3}', '\\x61', '\\x6', '\\xg', '\\u0061', '\\u006', '\\uAC00', '\\cJ', '\\cj', '\\c', '\\c1', '\\c_', '\\0', '\\01', '\\012', '\\0123',
  '\\1', '\\2', '\\3', '\\8', '\\9', '\\10', '\\18', '\\41', '\\101', '\\377', '\\400', '\\777', '\\k', '\\k<n>', '\\k<m>', '\\-', '\\/',
  '\\.', '\\e', '\\a', '\\ ', '\\가', '\\🙂', '\\_', '\\"', '{', '}', ']', '{,5}', '{a}', '{1', '{1,', '{1,a', '{}', 'a{,2}', '{2}', '{2,1}',
  '(?P<n>a)', '(?i)', '(?i:a)', '(?#c)', '(?>a)', '(?|a)', '(*FAIL)', '(*UTF)', '(?R)', '(?1)', '(?&n)', '(?C1)', '(?', '(?:', '(?<', '(?<n',
  '(?<n>', '(?<1>a)', '(?<가>a)', '(?<a-b>c)', '(?<$>a)', '(?<\\u0061>b)', '(?<\\u{62}>b)', '(?<é>b)', '(?<>a)', '[', '[]', '[^]', '[]a]',
  '[^]a]', '[[:alpha:]]', '[a-]', '[-a]', '[\\d-x]', '[x-\\d]', '[\\w-]', '[z-a]', '[a-\\cA]', '[\\b]', '[\\B]', '[\\c]', '[\\c1]', '[\\c_]', '[\\cA]',
  '[\\0-\\7]', '[\\8]', '[\\x41-\\x5a]', '[\\u0041-z]', '[🙂]', '[🙂-🙃]', '[^🙂]', '[\\ud83d]', '\\ud83d', '\\ude42', '\\ud83d\\ude42', '[가-힣]',
  '[^가-힣]', '[a-zA-Z]', '[A-z]', '[ſ-K]', '[^\\W]', '[\\W\\w]', '[\\s\\S]', '[^\\s\\S]', '[\\k]', '[\\-]', '[\\]]', '[.]', '[^.]', '[&&]', '[a--b]',
  '[\\p{L}]', '\\', '[\\', '*', '+', '?', '^*', '$+', '\\b+', '(?=a)*', '(?!a)+', '(?=a){2}', '(?<=a)*', '(?<!a)?', '(?=(a))?', '**', 'a**',
  'a+*', 'a*+', 'a++', 'a?+', 'a{2}+', 'a{2}{3}', 'a*?', 'a??', 'a+??', '|', '||', '()', '(|)', '(?:)', '(?:|)', ')', '#', '(?x) a', 'a #b'];

function classOf(wide) {
  const member = () => {
    const r = random(10);
    if (r < 6) return pick(wide ? [...LETTERS, ...WIDE] : LETTERS).replace(/[-\]\\]/, '\\$&');
    if (r < 8) return '\\' + pick('dDsSwWbtnfv0.-'.split(''));
    if (r < 9) return pick(['a-c', 'A-Z', '0-9', 'b-b', '_-a', '가-나', '\\x00-\\x7f', '\\u0100-\\uffff']);
    return pick(['^', '-', '.', '(', '[', '*', '$', '|']);
  };
  let out = '[' + (chance(30) ? '^' : '');
  for (let n = random(4); n > 0; n--) out += member();
  return out + ']';
}

function quantifier() {
  const q = pick(['*', '+', '?', '*', '+', '?', '{0}', '{1}', '{2}', '{0,1}', '{1,2}', '{2,3}', '{0,}', '{1,}', '{2,}', '{0,2}', '{1,3}']);
  return q + (chance(30) ? '?' : '');
}

function atom(depth, kind) {
  const r = random(100);
  if (depth > 0 && r < 24) {
    const open = pick(['(', '(', '(', '(?:', '(?:', '(?:', '(?=', '(?!', '(?<=', '(?<!', '(?<n>', '(?<m>']);
    return open + choice(depth - 1, kind) + ')';
  }
  if (r < 32 && kind !== 'plain') return '\\' + pick(['1', '1', '1', '2', '2', '3', 'k<n>']);
  if (r < 40) return pick(['^', '$', '\\b', '\\B', '', '(?:)']);
  if (r < 50) return pick(['.', '.', '\\d', '\\w', '\\s', '\\D', '\\W', '\\S']);
  if (r < 58) return classOf(kind === 'wide');
  if (kind === 'wide' && r < 75) return pick(WIDE);
  if (kind === 'soup' && r < 80) return pick(SOUP);
  return pick(LETTERS);
}

function sequence(depth, kind) {
  let out = '';
  for (let n = random(4); n >= 0; n--) {
    out += atom(depth, kind);
    if (chance(35)) out += quantifier();
  }
  return out;
}

function choice(depth, kind) {
  let out = chance(8) ? '' : sequence(depth, kind);
  while (chance(22)) out += '|' + (chance(15) ? '' : sequence(depth, kind));
  return out;
}

function mutate(pattern) {
  const units = [...pattern];
  const at = random(units.length + 1);
  const c = pick('()[]{}?*+|\\^$.-,:=!<>01k'.split(''));
  units.splice(at, random(2), ...(chance(70) ? [c] : []));
  return units.join('');
}

// Patterns that a random one hardly hits.
const NASTY = ['(a*)*', '(?:a?)*?b', '(a|)+', '(|a)+', '(?:|a)*', '(?:|a)?', '(?:|a|b)*c', '(a*|b)*', '(a?b??)*', '(?:a*?)*b', '(?:a|b?)+?',
  '(?:(a)|b)*\\1', '(?:(a)|(b))*\\1\\2', '(a)(?:b\\1)*', '(?:(a)b)*\\1', '(?:(a)b)+\\1', '(?:(?:(a)b)*\\1)+', '(?:(a)?b)*\\1', '(?:(a)\\1|b)+',
  '(a\\1)+', '(a\\1)', '\\1(a)', '(?:\\1(a))*', '(?:\\2(a)(b))*', '(?=(a+))a*b\\1', '(?=(a))\\1', '(?!(a))\\1b', '(?!(a)b\\1)a', '(?:(?=(a)))?\\1',
  '(?:(?=(a))){2}\\1', '(?<=(a))\\1', '(?<=\\1(a))b', '(a)(?<=\\1)b', '(?<=a(?=b))b', '(?<!a(?!b))b', '(?<=^|b)a', '(?<=ab?)a', '(?<=a{1,3})b',
  '(?<=a+)b', '(?<!a*)b', '(?<=a*b)a', '(?<=(?:a|bc)d?)a', '(?<=a|bc|)a', '(?<=[ab]{2})c', '(?<=.)a', '(?<=🙂)a', '(?<=\\b)a', '(?<=a(?:b|cd){1,2})a',
  '(?<=(?:a?b?){2})c', '(?<=(?=a)b)a', '(?<=(?<=a)b)a', '(?<!(?<!a)b)a', '(?<=a$)', '(?<=$)', '^(?:a|ab)(?:c|bcd)$', '(a+)+$', '(a|a)*b', '(.*)*x',
  '^.$', '^..$', '^[^]$', '^[🙂]$', '[🙂]', '^[🙂]{2}$', '\\ud83d', '\\ude42$', '\\ud83d(?=\\ude42)', '(?<=\\ud83d)', '\\B🙂', '\\b🙂', '🙂*', '🙂{2}', '(?:🙂){2}',
  '(🙂|a)\\1', '[^\\ud83d]', 'x*', '', '$', '^', '\\b', '\\B', '^$', '$^', 'a|', '|a', '(?:)', '()', '()*', '(?:)*', '(?:)+', '(^)*a', '($)*', '(?:^)*a',
  '(?:\\b)+a', '(?=a)*b', '(?=a)+b', '(?!a)*b', '(?=a){0}b', '(?=a){0,1}b', '(a){0}\\1b', '(?:a{0})*b', 'a{0}', 'a{0,0}?b', '(?:a{2}){2}', '(?:a{1,2}){2,3}',
  '((a)|b)+\\2', '(?<n>a)\\k<n>', '\\k<n>(?<n>a)', '\\k<n', '\\k', '(?<n>a)\\k', '(?<n>a)\\k<m>', '(?<n>a)(?<n>b)', '(?<n>a)|(?<n>b)', '(?<n>a)[\\k]',
  'k\\k', '(a)\\10', '(a)\\1b\\2', '\\0', '\\00', '\\1', '\\11', '(.)\\1', '(\\w)\\1', '^(.)(.)\\2\\1$', '(.+)\\1', '(..)\\1', '(a|b)\\1*', '(a)\\1{2}',
  '(.)\\1|b', '^(?:(.)(?!.*\\1))*$', '(?:a|b|ab)*c', '(?:(?:a|b)+c)*d', '[^]*', '[^]+?a', '[]', '[]*', '[]?a', '[^a]*', '[\\s\\S]*', '[\\d\\D]', '.*', '.*?a', '.+a',
  'a{1,1000}', 'a{1000}', 'a{70}', 'a{65,70}b', '(?:ab){1,100}', 'a{1,1000}{1,1000}', 'a{1001}', 'a{1,65535}', 'a{2000,}', '^.{1,2000}$', '^[a-z0-9가-힣-]{2,4096}$', '^[^\\s]{0,10000}x', '(?:ab?){0,1500}', 'a{65535}', 'a{65536}', 'a{99999999999999999999}', 'a{2,99999999999}'];

// What a person or a model types into a search: none of these may be refused.
const ordinary = readFileSync(new URL('ordinary.txt', import.meta.url), 'utf8').split('\n')
  .filter((line) => line && !line.startsWith('# '));

function* patterns() {
  for (const p of ordinary) yield { p, ordinary: true };
  for (const p of NASTY) yield { p };
  for (const p of SOUP) yield { p };
  for (;;) {
    const kind = pick(['plain', 'refs', 'refs', 'wide', 'soup']);
    const p = choice(1 + random(3), kind);
    yield { p: chance(12) ? mutate(p) : p };
  }
}

function subjects(p) {
  const out = [p.slice(0, 40).toWellFormed?.() ?? p.slice(0, 40).replace(/[\ud800-\udfff]/g, '?')];
  const own = [...p].filter((c) => c !== '\\' && (c < '\ud800' || c > '\udfff'));
  for (let k = 0; k < 9; k++) {
    let s = '';
    const list = k % 3 === 0 ? ['a', 'b'] : k % 3 === 1 ? [...LETTERS, ...own.slice(0, 8)] : [...WIDE, ...own, 'a', 'b'];
    for (let n = random(9); n > 0; n--) s += pick(list);
    out.push(s);
  }
  return out;
}

const surrogate = (s, i, from, to) => i >= 0 && i < s.length && s.charCodeAt(i) >= from && s.charCodeAt(i) <= to;
const splits = (s, i) => surrogate(s, i - 1, 0xd800, 0xdbff) && surrogate(s, i, 0xdc00, 0xdfff);

// A match in bytes, widened to whole characters; of nothing inside of a pair:
// behind it.
function expected(re, s) {
  let m = re.exec(s);
  // With the u flag there is nothing between the halves of a pair (ECMA-262, 22.2.7.2),
  // but V8 finds a \\B there: what it finds behind that counts.
  while (m && re.unicode && m[0].length === 0 && splits(s, m.index)) {
    const on = new RegExp(re.source, re.flags + 'g');
    on.lastIndex = m.index + 1;
    m = on.exec(s);
  }
  if (!m) return '-';
  let from = m.index, to = m.index + m[0].length;
  to += splits(s, to) ? 1 : 0;
  from = m[0].length === 0 ? to : from - (splits(s, from) ? 1 : 0);
  return Buffer.byteLength(s.slice(0, from)) + ',' + Buffer.byteLength(s.slice(0, to));
}

// The engine has no step limit of its own: a pattern that it cannot finish is
// left out, which the sum tells.
const ENGINE_MS = 250;
const sandbox = vm.createContext({ ask: null });
const script = new vm.Script('ask()');

function askEngine(re, list) {
  let want;
  sandbox.ask = () => (want = list.map((s) => expected(re, s)));
  try {
    script.runInContext(sandbox, { timeout: ENGINE_MS });
  } catch (error) {
    if (error.code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
    return null;
  }
  return want;
}

let unfinished = 0;

const CLASSES = ['\\d', '\\D', '\\w', '\\W', '\\s', '\\S', '.', '\\b', '\\B', '[\\b-\\s]', '[^\\w.]', '[à-ÿĀ-ſ]', '[^K-kſ]', '[α-ω]'];

function makeUnitCases() {
  const units = [];
  for (let u = 0; u < 0x10000; u++) if (u < 0xd800 || u > 0xdfff) units.push(String.fromCharCode(u));
  const cases = [];
  const add = (pattern, flags, list) => {
    const re = new RegExp(pattern, flags & 1 ? 'i' : '');
    cases.push({ pattern, flags, must: true, list, want: list.map((s) => expected(re, s)) });
  };
  for (const p of CLASSES) for (const flags of [0, 1]) add(p, flags, units);
  const next = (c, d) => String.fromCharCode(Math.max(0, c.charCodeAt(0) + d)).toWellFormed?.() ?? c;
  for (const c of units) {
    const kin = [c, c.toLowerCase(), c.toUpperCase(), c.toLowerCase().toUpperCase(), c.toUpperCase().toLowerCase()];
    if (mode === 'units' && kin.every((k) => k === c)) continue;
    const escaped = '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0');
    const list = [...new Set([...kin, next(c, 1), next(c, -1), next(c, 32), next(c, -32), 'k', 'K', 's', 'S', 'ß', 'i', 'I'])];
    add('^' + escaped + '$', 1, list);
    add('^[^' + escaped + ']$', 1, list);
  }
  return cases;
}

function makeCases() {
  const cases = [];
  let pairs = 0;
  for (const { p, ordinary: must } of patterns()) {
    if (pairs >= wanted && !must && cases.length > ordinary.length + NASTY.length + SOUP.length) break;
    const flags = (unicode ? 4 : 0) + (must ? 0 : (chance(25) && !unicode ? 1 : 0) + (chance(25) ? 2 : 0)); // 2: without the JIT
    const pattern = p.toWellFormed?.() ?? p;
    let re = null;
    try {
      re = new RegExp(pattern, (flags & 1 ? 'i' : '') + (unicode ? 'u' : ''));
    } catch {
      // stays null: an error is expected of the other side too
    }
    const list = subjects(pattern);
    const want = re && askEngine(re, list);
    pairs += list.length;
    if (re && !want) unfinished++;
    else cases.push({ pattern, flags, must, list, want });
  }
  return cases;
}

function encode(cases) {
  const parts = [];
  for (const c of cases) {
    const bytes = [c.pattern, ...c.list].map((s) => Buffer.from(s));
    parts.push(Buffer.from(c.flags + bytes.map((b) => b.length).join(' ') + '\n'), ...bytes);
  }
  return Buffer.concat(parts);
}

// The last two: engines after Node 20 take (?i:a), and one name in two ways.
const LIMIT_WORDS = /not supported|at most|too big|deep in each other|flags cannot stand|names a second group/;

function compare(cases, lines) {
  const sum = { patterns: cases.length, pairs: 0, errors: 0, refused: 0, gave_up: 0, lenient: 0, unfinished, reasons: {}, differences: [] };
  cases.forEach((c, i) => {
    const got = lines[i] ?? '(nothing)';
    const differ = (why) => sum.differences.push({ why, pattern: c.pattern, flags: c.flags, got });
    if (got.startsWith('!')) {
      if (!c.want) sum.errors++;
      else if (c.must) differ('an ordinary pattern was refused');
      else if (!LIMIT_WORDS.test(got)) differ('JavaScript takes this pattern');
      else {
        sum.refused++;
        const reason = got.replace(/^! \d+ /, '').replace(/ .* at character \d+| at character \d+/, '').slice(0, 60);
        sum.reasons[reason] = (sum.reasons[reason] ?? 0) + 1;
      }
      return;
    }
    if (!c.want && c.flags & 4) return sum.lenient++; // what the flag alone forbids
    if (!c.want) return differ('JavaScript calls this an error');
    got.trim().split(' ').forEach((word, k) => {
      sum.pairs++;
      if (word === '?') sum.gave_up++;
      else if (word !== c.want[k]) differ(`subject ${JSON.stringify(c.list[k])}: JavaScript ${c.want[k]}, here ${word}`);
    });
  });
  return sum;
}

const cases = mode.startsWith('units') ? makeUnitCases() : makeCases();
const run = spawnSync(helper, helperArgs, { input: encode(cases), maxBuffer: 1 << 30 });
if (run.status !== 0) {
  console.error(run.stderr.toString().slice(-4000));
  process.exit(2);
}
const sum = compare(cases, run.stdout.toString().split('\n'));
sum.difference_count = sum.differences.length;
sum.differences = sum.differences.slice(0, 40);
sum.unicode = process.versions.unicode;
console.log(JSON.stringify(sum, null, 1));
