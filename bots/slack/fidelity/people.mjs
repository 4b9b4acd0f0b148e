// What people do in the workspace, asked of the program that runs it: people.say(...) and the other
// verbs of verbs_test.go.
export const people = new Proxy({}, {
  get: (_, verb) => async (...args) => {
    const answer = await fetch(`${process.env.PEOPLE_URL}/${verb}`, { method: 'POST', body: JSON.stringify(args.map(String)) });
    if (!answer.ok) {
      throw new Error(`${verb}: ${await answer.text()}`);
    }
    return answer.json();
  },
});

export const slackApiUrl = process.env.SLACK_URL;
export const token = process.env.BOT_TOKEN;
export const appToken = process.env.APP_TOKEN;
export const signingSecret = process.env.SIGNING_SECRET;

// until returns what f returns as soon as it is something. It fails after a long while.
export async function until(f) {
  for (const end = Date.now() + 30_000; Date.now() < end; ) {
    const v = await f();
    if (v) {
      return v;
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error(`waited too long for ${f}`);
}

// once returns the arguments of the next call of an event's handlers.
export function once(emitter, event) {
  return new Promise((resolve) => emitter.once(event, resolve));
}

export const text = (s) => ({ type: 'plain_text', text: s });

export const button = (label, action, value) => ({ type: 'button', text: text(label), action_id: action, value });

export const form = (callback) => ({
  type: 'modal',
  callback_id: callback,
  title: text('Why'),
  submit: text('Send'),
  blocks: [{ type: 'input', block_id: 'why', label: text('Why?'), element: { type: 'plain_text_input', action_id: 'answer' } }],
});
