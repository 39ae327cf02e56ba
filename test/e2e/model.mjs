// A stand-in for the model of an agent: it answers Anthropic's /v1/messages and
// OpenAI's /v1/responses with the tool calls of a script, one after the other,
// and then with a text. No account is needed and nothing leaves the machine.
import { createServer } from 'node:http';
import { sleep } from './lib.mjs';

// model starts one on loopback. Each step of the script is { tool, input }, and
// may come after some seconds; said holds the requests of the conversation, as the agent sent them.
export async function model(script) {
  const said = [];
  const server = createServer(async (req, res) => {
    let body = '';
    for await (const part of req) body += part;
    const api = Object.entries(apis).find(([path]) => req.url.split('?')[0].endsWith(path))?.[1];
    if (req.method !== 'POST' || !api) { res.writeHead(404, { 'content-type': 'application/json' }).end('{}'); return; }
    const asked = JSON.parse(body);
    if (asked.tools?.length) said.push(asked); // without tools it is a title or a summary
    const step = asked.tools?.length ? script[api.results(asked).length] : undefined;
    if (step?.after) await sleep(step.after * 1000);
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const event of api.events(step, asked)) res.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    res.end();
  });
  await new Promise(done => server.listen(0, '127.0.0.1', done));
  const last = () => said.at(-1) ?? {};
  return {
    base: `http://127.0.0.1:${server.address().port}`,
    said,
    tools: () => JSON.stringify(last().tools ?? []),
    results: () => (last().messages ? anthropic : openai).results(last()),
    close: () => server.closeAllConnections() ?? server.close(),
  };
}

const usage = { input_tokens: 1, output_tokens: 1 };

const anthropic = {
  results: ({ messages = [] }) => messages.flatMap(m => (Array.isArray(m.content) ? m.content : [])).filter(c => c.type === 'tool_result'),
  events(step, { model: name }) {
    const id = `toolu_${Math.random().toString(36).slice(2)}`;
    const block = step ? { type: 'tool_use', id, name: step.tool, input: {} } : { type: 'text', text: '' };
    const delta = step ? { type: 'input_json_delta', partial_json: JSON.stringify(step.input) } : { type: 'text_delta', text: 'done' };
    return [
      { type: 'message_start', message: { id: 'msg_1', type: 'message', role: 'assistant', model: name, content: [], stop_reason: null, stop_sequence: null, usage } },
      { type: 'content_block_start', index: 0, content_block: block },
      { type: 'content_block_delta', index: 0, delta },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: step ? 'tool_use' : 'end_turn', stop_sequence: null }, usage },
      { type: 'message_stop' },
    ];
  },
};

const openai = {
  results: ({ input = [] }) => input.filter(i => i.type === 'function_call_output'),
  events(step) {
    const item = step
      ? { type: 'function_call', id: 'fc_1', call_id: `call_${Math.random().toString(36).slice(2)}`, name: step.tool, namespace: step.namespace, arguments: JSON.stringify(step.input) }
      : { type: 'message', id: 'msg_1', role: 'assistant', content: [{ type: 'output_text', text: 'done' }] };
    return [
      { type: 'response.created', response: { id: 'resp_1' } },
      { type: 'response.output_item.done', output_index: 0, item },
      { type: 'response.completed', response: { id: 'resp_1', output: [item], usage: { ...usage, total_tokens: 2 } } },
    ];
  },
};

const apis = { '/messages': anthropic, '/responses': openai };
