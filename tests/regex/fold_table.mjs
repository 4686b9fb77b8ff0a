// Prints src/regex/fold.def: what JavaScript's i flag (without u) takes for
// equal, asked of the engine that runs this. Used by hand when Unicode grows:
//   node tests/regex/fold_table.mjs > src/regex/fold.def
// test_node.py compares the table with the engine at hand.

// ECMAScript, Canonicalize: upper case, unless that is longer than one unit or
// leads from outside ASCII into it.
export function canonical(unit) {
  const upper = String.fromCharCode(unit).toUpperCase();
  if (upper.length !== 1) return unit;
  const c = upper.charCodeAt(0);
  return unit >= 128 && c < 128 ? unit : c;
}

export function runs() {
  const out = [];
  for (let unit = 0; unit < 0x10000; unit++) {
    const delta = canonical(unit) - unit;
    if (delta === 0) continue;
    const last = out[out.length - 1];
    const gap = last ? unit - last.to : 0;
    if (last && last.delta === delta && (last.to === last.from ? gap <= 2 : gap === last.step)) {
      last.step = gap;
      last.to = unit;
    } else {
      out.push({ from: unit, to: unit, step: 1, delta });
    }
  }
  return out;
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
  const hex = (n) => '0x' + n.toString(16).padStart(4, '0');
  console.log(`/* Written by tests/regex/fold_table.mjs; Unicode ${process.versions.unicode}. */`);
  for (const r of runs()) console.log(`{${hex(r.from)}, ${hex(r.to)}, ${r.step}, ${r.delta}},`);
}
