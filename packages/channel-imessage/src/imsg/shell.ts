import { spawn } from "node:child_process";
import { basename } from "node:path";
import { Readable } from "node:stream";
import { ChannelError, createChildEnvironment, removeControlCharacters } from "@signalbox/channel";
import { limits } from "../limits.ts";
import type { OpenedFile } from "../transport.ts";

/** Folders of Messages, in which received attachments are. Other files of the Mac are not read. */
const ATTACHMENTS = /^\/(?:[^/]+\/)*(?:Messages\/Attachments|Messages\/StickerCache)\//;

/** Files on the Mac, which may be another machine that is reached by the same command as imsg. */
export class MacFiles {
  readonly #shell: readonly [string, ...string[]];

  /** @param command the command of imsg, for instance `["ssh", "my-mac", "imsg", "rpc"]` */
  constructor(command: readonly string[]) {
    const end = command.findIndex((word) => basename(word) === "imsg");
    const [program, ...parameters] = command.slice(0, Math.max(end, 0));
    // ssh passes a single string to the shell of the other machine.
    this.#shell = program === undefined ? ["/bin/sh", "-c"] : [program, ...parameters];
  }

  /**
   * Opens a received attachment.
   *
   * @throws ChannelError `invalid` if the path is not one of an attachment, `not_found` if there is no such file
   */
  async open(path: string, signal: AbortSignal): Promise<OpenedFile> {
    if (!ATTACHMENTS.test(path) || path.split("/").includes("..") || /[\0\r\n]/.test(path))
      throw new ChannelError("invalid", "iMessage: not an attachment of Messages");
    const file = quote(path);
    const child = this.#run(`wc -c < ${file} && exec cat ${file}`, signal);
    child.stdin.end();
    const reader = Readable.toWeb(child.stdout).getReader() as ReadableStreamDefaultReader<Uint8Array>;
    let start: Uint8Array = new Uint8Array();
    let end = -1;
    while (end < 0 && start.length < 64) {
      const { done, value } = await reader.read().catch(() => ({ done: true, value: undefined }));
      if (done || value === undefined) break;
      start = Buffer.concat([start, value]);
      end = start.indexOf(10);
    }
    if (end < 0) {
      child.kill();
      throw new ChannelError("not_found", "iMessage: the attachment is not on the Mac");
    }
    const size = Buffer.from(start.subarray(0, end)).toString("latin1").trim();
    const length = /^\d+$/.test(size) ? Number(size) : undefined;
    const headers = new Headers(length === undefined ? {} : { "content-length": size });
    return { body: createBody(start.subarray(end + 1), reader, length, () => void child.kill()), headers };
  }

  /** Writes a file to a new folder on the Mac, and returns its path. */
  async write(name: string, bytes: Uint8Array, signal: AbortSignal): Promise<string> {
    const safe = quote(
      removeControlCharacters(name)
        .replace(/[/\n\r\t]/g, "_")
        .replace(/^\.+/, "_"),
    );
    const script = `umask 077; d=$(mktemp -d) && f="$d"/${safe} && cat > "$f" && printf '%s\\n' "$f"`;
    const path = (await this.#collect(script, bytes, signal)).trim();
    if (!path.startsWith("/"))
      throw new ChannelError("transient", "iMessage: the attachment could not be copied to the Mac");
    return path;
  }

  /** Removes a file that `write` has created, with its folder. */
  async remove(path: string, signal: AbortSignal): Promise<void> {
    const folder = path.slice(0, path.lastIndexOf("/"));
    await this.#collect(
      `rm -f -- ${quote(path)} && rmdir -- ${quote(folder)}`,
      new Uint8Array(),
      signal,
    ).catch(() => {});
  }

  async #collect(script: string, input: Uint8Array, signal: AbortSignal): Promise<string> {
    const child = this.#run(script, signal);
    child.stdin.end(input);
    let output = "";
    try {
      for await (const chunk of child.stdout.setEncoding("utf8")) output += String(chunk).slice(0, 4_096);
    } catch {
      throw new ChannelError("transient", "iMessage: the connection to the Mac broke off");
    }
    return output;
  }

  #run(script: string, signal: AbortSignal) {
    const [program, ...parameters] = this.#shell;
    const child = spawn(program, [...parameters, script], {
      env: createChildEnvironment(),
      stdio: ["pipe", "pipe", "ignore"],
      signal,
      timeout: limits.uploadTimeoutMs,
    });
    // The end of the output reports the failure.
    child.on("error", () => child.stdout.destroy());
    child.stdin.on("error", () => {});
    return child;
  }
}

/** Quotes a word for a POSIX shell. */
function quote(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}

/** Returns the rest of the output. Fails if it is shorter than announced, for instance because ssh was interrupted. */
function createBody(
  first: Uint8Array,
  reader: ReadableStreamDefaultReader<Uint8Array>,
  length: number | undefined,
  end: () => void,
): ReadableStream<Uint8Array> {
  let received = first.length;
  return new ReadableStream({
    start: (controller) => (first.length > 0 ? controller.enqueue(first) : undefined),
    async pull(controller) {
      const { done, value } = await reader.read();
      received += value?.length ?? 0;
      if (value !== undefined) controller.enqueue(value);
      if (!done) return;
      if (length === undefined || received >= length) controller.close();
      else controller.error(new ChannelError("transient", "iMessage: the attachment broke off"));
    },
    async cancel(reason) {
      end();
      await reader.cancel(reason).catch(() => {});
    },
  });
}
