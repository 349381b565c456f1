import type { Random } from "../crash/random.ts";
import { type MalformedPlatform, type Posted, type Pushed, TOKEN } from "./malformed.ts";
import { anyHeaders, bytes, damaged, type Vocabulary } from "./nonsense.ts";

/** No agent of the gateway has this name: nothing of what is generated is a message that an agent would answer. */
const NOBODY = "nobody";
const CONVERSATION = "malformed";

const words: Vocabulary = {
  names: [
    ...(["conversation", "agent", "after", "attachments", "name", "mimeType", "bytes", "title"] as const),
    ...(["model", "messages", "role", "content", "stream", "tools", "input", "user", "metadata"] as const),
  ],
  texts: [
    ...(["subscribe", "unsubscribe", "send", "abort", "watch", "ping", NOBODY, CONVERSATION] as const),
    ...(["user", "assistant", "input_text", "image_url", "data:image/png;base64,AAAA"] as const),
  ],
};

type Fields = Readonly<Record<string, unknown>>;

const attachment = { id: "up-1", name: "a.txt", mimeType: "text/plain", bytes: 4 };

/** Frames as the page sends them. */
const frames: readonly [Fields, ...Fields[]] = [
  { type: "send", conversation: CONVERSATION, id: "m-1", agent: NOBODY, text: "hello" },
  { type: "send", conversation: CONVERSATION, id: "m-2", agent: NOBODY, text: "", attachments: [attachment] },
  { type: "subscribe", conversation: CONVERSATION, agent: NOBODY, after: "1.2" },
  { type: "unsubscribe", conversation: CONVERSATION },
  { type: "abort", conversation: CONVERSATION },
  { type: "watch" },
  { type: "unwatch" },
];

/** What clients post, to the API of the page and to the one that others speak. */
const bodies: readonly [readonly [path: string, body: Fields], ...(readonly [string, Fields])[]] = [
  [`/api/conversations/${CONVERSATION}/messages`, { id: "m-3", agent: NOBODY, text: "hello" }],
  [
    `/api/conversations/${CONVERSATION}/messages`,
    { id: "m-4", agent: NOBODY, text: "", attachments: [attachment] },
  ],
  [`/api/conversations/${CONVERSATION}/rename`, { title: "Another" }],
  [`/api/conversations/${CONVERSATION}/abort`, { agent: NOBODY }],
  ["/v1/chat/completions", { model: NOBODY, messages: [{ role: "user", content: "hello" }], stream: true }],
  [
    "/v1/chat/completions",
    { model: NOBODY, messages: [{ role: "user", content: [{ type: "text", text: "hello" }] }], tools: [] },
  ],
  [
    "/v1/responses",
    { model: NOBODY, input: [{ role: "user", content: [{ type: "input_text", text: "hello" }] }] },
  ],
];

/** The gateway's own surfaces: a client with a good token that sends nonsense over its socket and over HTTP. */
export async function malformedWeb(): Promise<MalformedPlatform> {
  const said: string[] = [];
  const idle: Line[] = [];

  async function onLine(url: string, say: (line: Line) => Promise<number>): Promise<number> {
    const line = idle.pop() ?? (await openLine(url, (text) => said.push(text)));
    const status = await say(line);
    if (line.isOpen()) idle.push(line);
    return status;
  }
  const pushed = (data: string | Buffer): Pushed => ({
    body: data.toString(),
    deliver: (url) => onLine(url, (line) => line.say(data)),
  });

  return {
    channel: "web",
    owner: "owner",
    nonsense(random) {
      if (random.chance(0.5)) return posted(random);
      const text = JSON.stringify(damaged(random, random.pick(frames), words)) ?? "";
      if (random.chance(0.7)) return pushed(text);
      return pushed(random.chance(0.5) ? bytes(random) : text.slice(0, random.int(0, text.length)));
    },
    sound: () =>
      pushed(
        JSON.stringify({
          type: "send",
          conversation: "sound",
          id: "sound",
          agent: "main",
          text: "are you there?",
        }),
      ),
    sent: () => said,
    async stop() {
      for (const line of idle) line.close();
    },
  };
}

const good = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
const signed = {
  authorization: ["", "Bearer", "Bearer x", `Basic ${TOKEN}`, `Bearer ${TOKEN}x`],
  origin: ["null", "http://attacker.example", "http://127.0.0.1"],
  cookie: ["signalbox=x", "=", "__proto__=1"],
} as const;

function posted(random: Random): Posted {
  const [path, sound] = random.pick(bodies);
  const body = JSON.stringify(damaged(random, sound, words)) ?? "";
  const kind = random.next();
  if (kind < 0.6) return { method: "POST", path, headers: good, body };
  if (kind < 0.75)
    return { method: "POST", path, headers: good, body: random.chance(0.5) ? bytes(random) : body.slice(1) };
  // Sound in itself, but not as it was secured, sent or addressed.
  const paths = [
    ...(["/ws", "/api/uploads/up-1?at=7", "/api/uploads/..%2f..?at=0", "/api/uploads/up-1?at=-1"] as const),
    ...([path.replace(CONVERSATION, "%00"), `${path}/`, "/api/conversations/x/events?after="] as const),
  ] as const;
  const chosen = random.pick([path, ...paths]);
  return {
    method: random.pick(["POST", "PUT", "DELETE", "PATCH"]),
    path: chosen,
    headers: random.chance(0.4) ? good : anyHeaders(random, signed),
    body: random.pick([body, body.slice(1), `${body}}`]),
  };
}

/** A connection to the gateway, for one sender at a time. */
interface Line {
  /** Resolves with what would be the status of an answer, once everything that was sent before is dealt with. */
  say(data: string | Buffer): Promise<number>;
  isOpen(): boolean;
  close(): void;
}

/** Of the codes of error frames: those that a client is to blame for are not among them. */
const BROKEN: ReadonlyMap<unknown, number> = new Map([
  ["internal", 500],
  ["full", 503],
  ["stopping", 503],
]);
/** Codes of closing that say what was wrong with a frame. */
const REFUSED_AT: readonly number[] = [1002, 1003, 1007, 1008, 1009];

/** @param said hears what the agent says */
async function openLine(url: string, said: (text: string) => void): Promise<Line> {
  const socket = new WebSocket(`${url.replace("http", "ws")}/ws`, {
    headers: { authorization: good.authorization },
  });
  let status = 200;
  let answered = Promise.withResolvers<number>();
  const opened = Promise.withResolvers<void>();
  socket.onopen = () => opened.resolve();
  socket.onerror = () => opened.reject(new Error("no connection"));
  socket.onclose = ({ code }) => answered.resolve(REFUSED_AT.includes(code) ? 400 : 502);
  socket.onmessage = ({ data }) => {
    const frame: Fields = JSON.parse(String(data));
    if (frame["type"] === "error") status = BROKEN.get(frame["code"]) ?? 400;
    if (frame["type"] === "pong") answered.resolve(status);
    const { message } = frame as { readonly message?: { readonly role?: string; readonly text?: string } };
    if (message?.role === "assistant" && message.text) said(message.text);
  };
  await opened.promise;
  return {
    say(data) {
      status = 200;
      answered = Promise.withResolvers();
      socket.send(data);
      socket.send(JSON.stringify({ type: "ping" }));
      return answered.promise;
    },
    isOpen: () => socket.readyState === WebSocket.OPEN,
    close: () => socket.close(),
  };
}
