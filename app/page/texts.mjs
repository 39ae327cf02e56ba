// What people read. Every text of the page stands in English where it is used, and in other languages in one table,
// of which the server writes the column that the browser asks for into the page. The refusals of the engine are in
// that table by their code. A view in a chat, and the picture of a chart, are in English.
const phrases = JSON.parse(globalThis.document?.getElementById('texts')?.textContent ?? '{"refusals":{},"texts":{},"words":{}}');

/** t returns a text in the language of the page, with values for {0}, {1} … A test finds the texts by its calls. */
export const t = (text, ...values) => (phrases.texts[text] ?? text).replace(/\{(\d)\}/g, (_, i) => values[i]);

/** word returns what people call a value of the protocol, such as partially_filled. */
export const word = value => phrases.words[value] ?? String(value).replaceAll('_', ' ');

// What is written for models: names of tools, and what to do with them.
const forModels = /\b(?:get|list|set|cancel|place|generate|find)_[a-z]+|call again|put this right|ask the owner|retry|the data is invented/i;

/** forPeople returns what a person reads of a tool's failure: the sentence of its code, which ends with a colon where
 * the facts belong to it, or else the facts. */
export function forPeople(text, code) {
  const parts = text.replace(/ \((?:fix the request|retry later|do not retry)\)$/, '').replace(/^[a-z_]+: /, all => (code ? '' : all)).split(/(?<=[:;?]) |\n/);
  const facts = parts.filter(part => !forModels.test(part)).join(' ').replace(/\??[;:]$/, end => end.replace(/[;:]/, ''));
  const sentence = phrases.refusals[code];
  return !sentence ? facts : sentence.endsWith(':') ? `${sentence} ${facts}` : sentence;
}
