// The chart in a chat. The view asks the host for the bars of the model's call, so the model never pays for them.
import { Account } from './account.mjs';
import { desk } from './desk.mjs';
import { el } from './dom.mjs';
import { openView } from './host.mjs';

const inlineHeight = 460; // logical pixels, where the host leaves it to us
const inputPatience = 1500; // milliseconds after the result in which its arguments may still come

openView(({ place, host, notice, say }) => {
  const account = new Account(host);
  const state = { asked: undefined, remarks: '', mode: 'inline', size: {} };
  const { form, draft, load, surround, levels, close } = desk(place, host, account, { say, acted, enlarge, shown: request => {
    place.querySelector('.still')?.remove();
    if (request.symbol) showAccount();
  } });
  const orders = el('details', { class: 'order', hidden: true }, el('summary', {}, 'Order'), form);
  place.append(notice, orders);
  draft.watch(() => { orders.open ||= draft.lines.length > 0; });

  async function showAccount() {
    await account.refresh().then(() => { orders.hidden = false; }, () => {}); // charts only: nothing to show
    levels();
  }
  function acted(line) {
    say(line);
    host.tell(line);
    showAccount();
  }
  async function enlarge() {
    const mode = state.mode === 'fullscreen' ? 'inline' : 'fullscreen';
    const reply = await host.request('ui/request-display-mode', { mode }).catch(err => say(err.message));
    if (reply?.mode) onContext({ displayMode: reply.mode });
  }

  /** onContext takes what the host says of its surroundings, a part at a time. */
  function onContext(c) {
    state.mode = c.displayMode ?? state.mode;
    state.size = c.containerDimensions ?? state.size;
    if (c.theme) surround({ theme: c.theme === 'light' ? 'light' : 'dark' });
    if (c.timeZone) surround({ zone: c.timeZone });
    const { height, maxHeight = state.mode === 'fullscreen' ? window.innerHeight : inlineHeight } = state.size;
    const rows = height ?? (state.mode === 'fullscreen' ? maxHeight : Math.min(inlineHeight, maxHeight));
    document.body.style.height = rows + 'px';
    host.send({ method: 'ui/notifications/size-changed', params: { height: rows } });
  }

  function begin() {
    if (!host.capabilities || !state.asked) return;
    say(state.remarks);
    load(state.asked);
  }
  function onInput({ arguments: args = {} }) {
    state.asked = args;
    begin();
  }

  /** onResult says what the answer remarks beside the picture, such as bars cut off. */
  function onResult(result) {
    const remarks = (result.content ?? []).filter(c => c.type === 'text' && !c.text.startsWith('{')).map(c => c.text);
    say(state.remarks = remarks.join(' '));
    const unasked = 'This host did not say what was asked for. Name a symbol above for a chart that moves.';
    if (!host.capabilities?.serverTools) showPicture(result, 'This host lets the view call no tools, so the chart cannot move.');
    else setTimeout(() => state.asked || showPicture(result, unasked), inputPatience);
  }

  /** showPicture shows the picture of the tool where there can be no chart, and why. It is painted, since some hosts
   * let a page load no images, not even its own. */
  async function showPicture(result, why) {
    const picture = result.content?.find(c => c.type === 'image' && c.mimeType === 'image/png');
    say(why);
    if (!picture || place.dataset.state === 'ready') return;
    const bitmap = await createImageBitmap(new Blob([Uint8Array.from(atob(picture.data), c => c.charCodeAt(0))], { type: 'image/png' }));
    const canvas = el('canvas', { width: bitmap.width, height: bitmap.height, class: 'still', role: 'img', 'aria-label': 'Chart' });
    canvas.getContext('2d').drawImage(bitmap, 0, 0);
    place.querySelector('.controls').after(canvas);
    place.dataset.state = 'picture';
  }

  return { onContext, onInput, onResult, onReady: begin, end: close };
});
