// The page works without this script: every button is in a form, and reloading shows what is new. The script
// adds what is live (server-sent events carry pieces of HTML that the server made), sends without reloading,
// and the keys.
'use strict';

const $ = (id) => document.getElementById(id);
const thread = document.body.dataset.thread;

// near is whether the reader is at the end of the page, and so wants to stay there.
const near = () => window.innerHeight + window.scrollY >= document.documentElement.scrollHeight - 160;
const follow = (change) => {
  const stay = near();
  change();
  if (stay) window.scrollTo(0, document.documentElement.scrollHeight);
};

// put replaces the item of that id, or adds it. What is unfolded in it stays so, and what is being written too.
function put(id, html) {
  const box = document.createElement('template');
  box.innerHTML = html;
  const fresh = box.content.querySelector('article');
  const old = $(id);
  split(fresh);
  local(fresh);
  announce(fresh, old);
  if (!old) {
    $('items').append(fresh);
    return;
  }
  const unfolded = fresh.querySelector('details:not(.rewrite)');
  if (unfolded && old.querySelector('details:not(.rewrite)')?.open) unfolded.open = true;
  const reason = old.querySelector('input[name=reason]')?.value;
  const into = fresh.querySelector('input[name=reason]');
  if (reason && into) into.value = reason;
  const words = old.querySelector('.rewrite[open] textarea');
  const again = fresh.querySelector('.rewrite textarea');
  if (words && again && words.value !== words.defaultValue && words.value !== again.defaultValue) {
    again.value = words.value;
    again.closest('details').open = true;
  }
  const focused = old.contains(document.activeElement);
  old.replaceWith(fresh);
  if (focused) fresh.focus();
}

// announce tells who listens to a screen reader of what is finished or asks for them, once. The words that are
// being written are told of when they are an answer.
function announce(fresh, old) {
  const card = fresh.querySelector('.card');
  let text = '';
  if (card && !old?.querySelector('.card')) {
    text = `${card.querySelector('h2').textContent}: ${card.querySelector('.ask, .prose').textContent}`;
  } else if (!old && !fresh.matches('.call')) {
    text = `${fresh.getAttribute('aria-label')}: ${fresh.querySelector('.words, .prose').textContent}`;
  }
  if (text) $('heard').textContent = text.slice(0, 500);
}

// local shows times as they are where the reader is.
function local(within) {
  const form = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' });
  within.querySelectorAll('time[datetime]').forEach((at) => {
    at.title = at.dateTime;
    at.textContent = form.format(new Date(at.dateTime));
  });
}
local(document);

// split has all changes shown side by side, or none, as this browser was told last.
function split(within) {
  const on = localStorage.getItem('split') === 'on';
  within.querySelectorAll('[data-split]').forEach((box) => { box.checked = on; });
}

document.addEventListener('change', (e) => {
  if (!e.target.matches('[data-split]')) return;
  localStorage.setItem('split', e.target.checked ? 'on' : 'off');
  split(document);
});
split(document);

function connect() {
  let after = document.body.dataset.after;
  const source = new EventSource(`/t/${thread}/events?after=${after}`);
  const conn = $('conn');
  source.onopen = () => { conn.textContent = ''; conn.classList.remove('off'); };
  source.onerror = () => {
    conn.textContent = 'Not connected. Trying again…';
    conn.classList.add('off');
    if (source.readyState === EventSource.CLOSED) setTimeout(() => location.reload(), 3000);
  };
  source.addEventListener('item', (e) => follow(() => {
    const { id, html } = JSON.parse(e.data);
    put(id, html);
  }));
  source.addEventListener('live', (e) => follow(() => { $('live').innerHTML = JSON.parse(e.data); }));
  source.addEventListener('list', (e) => { $('threads').innerHTML = JSON.parse(e.data); local($('threads')); });
  source.addEventListener('state', (e) => {
    const { running, title } = JSON.parse(e.data);
    $('stop').hidden = !running;
    $('stop').querySelector('input[name=value]').value = running;
    document.title = title;
  });
  source.addEventListener('note', (e) => follow(() => {
    const p = document.createElement('div');
    p.className = 'notice';
    p.innerHTML = JSON.parse(e.data);
    $('notes').append(p);
    while ($('notes').children.length > 5) $('notes').firstChild.remove();
  }));
}

// tell shows something that went wrong.
function tell(text) {
  const at = $('notes') ?? document.querySelector('.start');
  const p = document.createElement('p');
  p.className = 'notice';
  p.setAttribute('role', 'alert');
  p.textContent = text;
  at.append(p);
}

async function send(form, button) {
  const body = new FormData(form, button);
  const buttons = form.querySelectorAll('button');
  buttons.forEach((b) => { b.disabled = true; });
  try {
    const data = form.getAttribute('enctype') === 'multipart/form-data' ? body : new URLSearchParams(body);
    const answer = await fetch(form.getAttribute('action'), { method: 'POST', body: data, headers: { Accept: 'application/json' } });
    if (answer.status === 401) { location.assign('/login'); return false; }
    if (!answer.ok) { tell(await answer.text()); return false; }
    return true;
  } catch {
    tell('That did not reach Heddle. Please try again.');
    return false;
  } finally {
    buttons.forEach((b) => { b.disabled = false; });
  }
}

document.addEventListener('submit', async (e) => {
  const form = e.target;
  if (form.matches('[data-press]')) {
    e.preventDefault();
    await send(form, e.submitter);
  } else if (form.matches('[data-box]') && thread) {
    e.preventDefault();
    if (await send(form, e.submitter)) {
      form.reset();
      sessionStorage.removeItem(location.pathname);
      chosen(form);
    }
  }
});

function chosen(form) {
  const names = [...form.querySelector('input[type=file]').files].map((f) => f.name);
  form.querySelector('.chosen').textContent = names.join(', ');
}

for (const form of document.querySelectorAll('[data-box]')) {
  const text = form.querySelector('textarea');
  const files = form.querySelector('input[type=file]');
  text.value = sessionStorage.getItem(location.pathname) ?? text.value;
  text.addEventListener('input', () => sessionStorage.setItem(location.pathname, text.value));
  text.addEventListener('keydown', (e) => {
    if (e.key === 'Enter' && !e.shiftKey && !e.isComposing) {
      e.preventDefault();
      if (text.value.trim() || files.files.length) form.requestSubmit();
    }
  });
  form.addEventListener('submit', () => { if (!thread) sessionStorage.removeItem(location.pathname); });
  files.addEventListener('change', () => chosen(form));
  for (const kind of ['dragover', 'dragleave', 'drop']) {
    form.addEventListener(kind, (e) => {
      e.preventDefault();
      form.classList.toggle('over', kind === 'dragover');
      if (kind === 'drop' && e.dataTransfer.files.length) { files.files = e.dataTransfer.files; chosen(form); }
    });
  }
}

document.addEventListener('keydown', (e) => {
  if (e.key === 'Escape' && !e.isComposing && e.target.matches('input, textarea')) {
    (e.target.closest('.item[id]') ?? $('conversation')).focus();
    return;
  }
  if (e.ctrlKey || e.metaKey || e.altKey || e.target.closest('input, textarea, dialog')) return;
  const items = [...document.querySelectorAll('.item[id]')];
  const at = items.indexOf(document.activeElement.closest?.('.item[id]'));
  const go = (to) => { to?.focus(); to?.scrollIntoView({ block: 'nearest' }); };
  const button = (value) => (items[at]?.querySelector(`button[value=${value}]`) ?? document.querySelector(`button[value=${value}]`));
  const actions = {
    '/': () => document.querySelector('textarea')?.focus(),
    j: () => go(items[Math.min(at + 1, items.length - 1)]),
    k: () => go(items[at < 0 ? items.length - 1 : Math.max(at - 1, 0)]),
    o: () => items[at]?.querySelector('summary')?.click(),
    a: () => go(button('approve')),
    d: () => go(button('deny')),
    s: () => go(document.querySelector('#stop:not([hidden]) button')),
    '?': () => $('keys')?.showModal(),
  };
  if (actions[e.key]) { e.preventDefault(); actions[e.key](); }
});

if (thread) {
  window.scrollTo(0, document.documentElement.scrollHeight);
  connect();
}
