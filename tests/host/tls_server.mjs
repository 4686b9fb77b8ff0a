// A TLS server for test_tls.c: HTTP/2 or HTTP/1.1, well-behaved or not.
//
//   node tls_server.mjs KEY CERT MODE     MODE: h2 (100 streams), h1, old (TLS 1.1)
//
// Prints its port; at the end of stdin prints "CONNECTIONS REQUESTS" and ends.
// Paths: /hold/N answers once N such requests are there; /refuse once refuses
// the stream; /reset, /cut and /hang break off in their way; …/messages is a model
// that asks for the time three times.
import fs from 'node:fs';
import http2 from 'node:http2';
import https from 'node:https';

const [key, cert, mode] = process.argv.slice(2);
const options = { key: fs.readFileSync(key), cert: fs.readFileSync(cert) };
let connections = 0;
let requests = 0;
let refused = false;
let held = [];
const raw = new Set();

function hold(response, wanted) {
  held.push(response);
  if (held.length < wanted) return;
  for (const one of held) one.end('held');
  held = [];
}

function event(type, members) {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`;
}

function model(request, response, body) {
  const turns = body.split('"tool_result"').length - 1;
  const call = { type: 'tool_use', id: `toolu_${turns}`, name: 'get_time', input: {} };
  const text = { type: 'text', text: `HTTP/${request.httpVersion}` };
  const message = { id: 'msg', content: [], usage: { input_tokens: 9, output_tokens: 1 } };
  response.setHeader('content-type', 'text/event-stream');
  response.write(event('message_start', { message }));
  response.write(event('content_block_start', { index: 0, content_block: turns < 3 ? call : text }));
  response.write(event('content_block_stop', { index: 0 }));
  const delta = { stop_reason: turns < 3 ? 'tool_use' : 'end_turn' };
  response.write(event('message_delta', { delta, usage: { output_tokens: 5 } }));
  response.end(event('message_stop', {}));
}

function answer(request, response, body) {
  requests++;
  const path = request.url.split('/');
  if (path.at(-1) === 'messages') return model(request, response, body);
  if (path[1] === 'hang') return;
  if (path[1] === 'hold') return hold(response, Number(path[2]));
  if (path[1] === 'refuse' && !refused) {
    refused = true;
    return response.stream.close(http2.constants.NGHTTP2_REFUSED_STREAM);
  }
  if (path[1] === 'reset') {
    response.write('part');
    return setImmediate(() => response.stream.close(http2.constants.NGHTTP2_INTERNAL_ERROR));
  }
  if (path[1] === 'cut') {
    response.setHeader('content-length', 10);
    return response.write('part', () => { for (const socket of raw) socket.destroy(); });
  }
  response.end(request.httpVersion);
}

function serve(request, response) {
  let body = '';
  request.on('data', (bytes) => { body += bytes; });
  request.on('end', () => answer(request, response, body));
}

function make() {
  if (mode === 'h1') return https.createServer({ ...options, ALPNProtocols: ['http/1.1'] }, serve);
  if (mode === 'old')
    return https.createServer({ ...options, minVersion: 'TLSv1', maxVersion: 'TLSv1.1',
                                ciphers: 'DEFAULT@SECLEVEL=0' }, serve);
  // What the large providers' front ends allow.
  const settings = { maxConcurrentStreams: 100 };
  return http2.createSecureServer({ ...options, settings }, serve);
}

const server = make();
server.on('connection', (socket) => { connections++; raw.add(socket); });
server.on('secureConnection', (socket) => socket.on('error', () => {}));
server.on('sessionError', () => {});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
process.stdin.resume();
process.stdin.on('end', () => {
  fs.writeSync(1, `${connections} ${requests}\n`);
  process.exit(0);
});
