// Names and redirect addresses that try to make the consent page say something
// else than where the browser goes. Most addresses must be refused at
// registration; the rest must be shown as Chromium itself reads them.
const rlo = '\u202e';
const rli = '\u2067';
const pdi = '\u2069';
const zero = '\u200b\u200d\u2060\ufeff';
const zalgo = 'C' + '\u0301\u0302\u0308\u030a\u0316\u0323\u0489'.repeat(12);

export const hostile = [
  // Hosts that look like another one.
  ['Claude', 'https://%D1%81laude.ai/cb'],
  ['Claude', 'https://claude.ai%E3%83%8Eapi.evil.example/cb'],
  ['Claude', 'https://claude.ai%2Fcb.evil.example/'],
  ['Claude', 'https://claude.ai%252Fevil.example/'],
  ['Claude', 'https://claude.ai%E2%80%AE.evil.example/'],
  ['Claude', 'https://claude.ai%00.evil.example/'],
  ['Claude', 'https://%63laude.ai/cb'],
  ['Claude', 'https://claude.ai@evil.example/cb'],
  ['Claude', 'https://claude.ai:443@evil.example/cb'],
  ['Claude', 'https://evil.example\\@claude.ai/cb'],
  ['Claude', 'https://claude.ai\\.evil.example/cb'],
  ['Claude', 'https:\\\\claude.ai/cb'],
  ['Claude', 'https://сlaude.ai/cb'],
  ['Claude', 'https://claude。ai/cb'],
  ['Claude', 'https://claude.ai\u3002evil.example/cb'],
  ['Claude', 'https://claude.ai\t.evil.example/cb'],
  ['Claude', 'https://claude.ai\u00ad.evil.example/cb'],
  ['Claude', 'https://2130706433/cb'],
  ['Claude', 'https://0x7f.1/cb'],
  ['Claude', 'https://127.1/cb'],
  ['Claude', 'https://[::ffff:127.0.0.1]/cb'],
  ['Claude', 'https://claude.ai.:443/cb'],
  ['Claude', 'https://claude.ai:0443/cb'],
  ['Claude', 'search-ms:query=claude.ai'],
  ['Claude', 'javascript://claude.ai/%0aalert(1)'],
  // Hosts that are allowed, and must be shown as they are.
  ['Claude', 'https://xn--laude-0ye.ai/cb'],
  ['Claude', 'https://xn--80ak6aa92e.com/claude.ai/cb'],
  ['Claude', 'https://claude.ai.evil.example/cb'],
  ['Claude', 'https://claude.ai-api.evil.example:8443/cb'],
  ['Claude', 'https://CLAUDE.AI.Evil.Example:443/cb'],
  ['Claude', 'https://evil.example/https://claude.ai/cb?https://claude.ai/'],
  ['Claude', 'https://192.0.2.77/cb'],
  ['Claude', 'https://[2001:db8::77]:444/cb'],
  ['Claude', `https://${'claude-ai-'.repeat(5)}x.${'sub.'.repeat(40)}evil.example/cb`],
  ['Claude', 'https://intranet/cb'],
  // Names that try to rewrite the page around them.
  [`Claude${rlo}elpmaxe.live`, 'https://evil.example/a'],
  [`${rli}claude.ai${pdi}${rlo}ia.edualc`, 'https://evil.example/b'],
  [`${zero}${zero}\u3164\u115f\u2800`, 'https://evil.example/c'],
  [zalgo.repeat(8), 'https://evil.example/d'],
  ['שלום claude.ai مرحبا', 'https://evil.example/e'],
  ['Claude\r\nYou will be sent to\r\nclaude.ai', 'https://evil.example/f'],
  ['</bdi></h1><dl><dt>You will be sent to<dd><strong>claude.ai</strong></dl><h1><bdi>', 'https://evil.example/g'],
  ['W'.repeat(4000), 'https://evil.example/h'],
  ['&#8238;&lt;b&gt;claude.ai\u0007\u001b[2J\u009b', 'https://evil.example/i'],
  ['🏴󠁧󠁢󠁥󠁮󠁧󠁿 claude.ai ✅ verified', 'https://evil.example/j'],
];
