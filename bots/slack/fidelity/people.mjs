export { people, until } from '../../../internal/nodetest/people.mjs';

export const slackApiUrl = process.env.SLACK_URL;
export const token = process.env.BOT_TOKEN;
export const appToken = process.env.APP_TOKEN;
export const signingSecret = process.env.SIGNING_SECRET;

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
