// Go's clients, in a module of their own: goclients/main.go is told what to do,
// a line of JSON at a time.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { here, launch, scratch } from './lib.mjs';
import { http } from './sdk.mjs';

const folder = join(here, 'goclients');
const versionOf = module => readFileSync(join(folder, 'go.mod'), 'utf8').match(`${module} v(\\S+)`)[1];

let program;
function build() {
  program ??= join(scratch(), 'goclients');
  execFileSync('go', ['build', '-o', program, '.'], { cwd: folder, stdio: 'inherit' });
}

function driver(name, client, which, na) {
  return {
    name, client, na,
    async connect(url) {
      if (!program) build();
      const child = launch(program, [which], { stdio: ['pipe', 'pipe', 'ignore'] });
      const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
      const ask = async request => {
        child.stdin.write(`${JSON.stringify(request)}\n`);
        const { value, done } = await lines.next();
        if (done) throw new Error(`${which} has ended`);
        const { result, error } = JSON.parse(value);
        if (error) throw new Error(error);
        return result;
      };
      await ask({ do: 'connect', url });
      const session = {
        tools: () => ask({ do: 'tools' }),
        call: (tool, args) => ask({ do: 'call', tool, arguments: args }),
        pushed: () => ask({ do: 'pushed' }),
        recover: async () => { await ask({ do: 'recover' }); return session; },
        close: async () => { await ask({ do: 'close' }); child.stdin.end(); },
      };
      return session;
    },
  };
}

const olderTransport = { '/sse': http.na['/sse'] };
export const goSDK = driver(`Go SDK ${versionOf('modelcontextprotocol/go-sdk')}`, 'go-sdk', 'go-sdk', {
  ...olderTransport,
  push: 'it speaks 2026-07-28 by itself, which has no stream for notifications of a server\'s own: what fired is in wick://alerts, and subscriptions/listen tells of it (eras.mjs)',
});
export const mcpGo = driver(`mcp-go ${versionOf('mark3labs/mcp-go')}`, 'mcp-go', 'mcp-go', olderTransport);
export const oauth2 = driver(`x/oauth2 ${versionOf('golang.org/x/oauth2')}`, 'x/oauth2', 'oauth2', {});
