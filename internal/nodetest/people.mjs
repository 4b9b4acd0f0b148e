// What people do on the network, asked of the test that runs the program: people.say(...) and
// its other verbs.
export const people = new Proxy({}, {
  get: (_, verb) => async (...args) => {
    const answer = await fetch(`${process.env.PEOPLE_URL}/${verb}`, { method: 'POST', body: JSON.stringify(args.map(String)) });
    if (!answer.ok) {
      throw new Error(`${verb}: ${await answer.text()}`);
    }
    return answer.json();
  },
});

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
