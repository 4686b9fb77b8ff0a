// Ajv on the lines that test_pairs takes: node ajv.mjs [--time] FOLDER FILE, where
// FOLDER holds node_modules. Prints what test_pairs prints.
import fs from 'node:fs';
import { createRequire } from 'node:module';

const time = process.argv[2] === '--time';
const [folder, file] = process.argv.slice(time ? 3 : 2);
const require = createRequire(fs.realpathSync(folder) + '/');
const Ajv = require('ajv/dist/2020').default;
// Its check of the schema itself would compile the draft's own for each instance.
const options = { strict: false, validateFormats: false, validateSchema: false, logger: false };
const shared = new Ajv(options);
const ROUND_NS = 20e6, ROUNDS = 9;

// CPU time, as test_pairs takes it: others may be working on the machine.
const now = () => {
  const used = process.cpuUsage();
  return (used.user + used.system) * 1000;
};

// The best of some rounds, the first of which warm the compiler up.
function best(once) {
  let best = Infinity;
  for (let round = 0; round < ROUNDS; round++) {
    const began = now();
    let n = 0;
    while (now() - began < ROUND_NS) for (let i = 0; i < 16; i++, n++) once();
    best = Math.min(best, (now() - began) / n);
  }
  return best;
}

function bestCompile(schema) {
  let best = Infinity;
  for (let i = 0; i < 40; i++) {
    const ajv = new Ajv(options); // which keeps what it compiled, so each needs its own
    const began = now();
    ajv.compile(schema);
    best = Math.min(best, now() - began);
  }
  return best;
}

let sum = 0;
for (const line of fs.readFileSync(file, 'utf8').split('\n').filter(Boolean)) {
  const { schema, values } = JSON.parse(line);
  let check;
  try {
    check = shared.compile(schema);
    shared.removeSchema(schema);
  } catch (e) {
    console.log('bad ' + String(e.message).split('\n')[0]);
    continue;
  }
  if (time) {
    const took = best(() => { for (const value of values) sum += check(value); });
    console.log(bestCompile(schema).toFixed(1), took.toFixed(1));
  } else {
    console.log(values.map((value) => (check(value) ? 'y' : 'n')).join(''));
  }
}
if (sum < 0) console.log(sum);
