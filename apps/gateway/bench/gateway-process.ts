import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const MAIN = fileURLToPath(new URL("../dist/signalbox.js", import.meta.url));
const TOKEN = randomBytes(32).toString("base64url");
/** Where every gateway keeps compiled code: in its home, each new home would begin anew. */
const COMPILED = join(tmpdir(), "signalbox-bench-compiled");
/** How the program asks to be started: variables and flags of its first line. */
const FIRST_LINE = /^#!\/usr\/bin\/env -S (?<variables>(?:\w+=\S+ )*)node(?<flags>.*)\n/;

/** A built gateway in a process of its own. */
export interface GatewayProcess {
  readonly url: string;
  readonly token: string;
  readonly home: string;
  /** Milliseconds from the start of the process to the first good answer of `/readyz`. */
  readonly readyMs: number;
  /** Resident memory in bytes. */
  rss(): number;
  /** CPU time so far, in milliseconds. */
  cpuMs(): number;
  /** Bytes and calls written so far, to whatever. */
  io(): { readonly bytes: number; readonly writes: number };
  stop(): Promise<void>;
  /** SIGKILL. */
  kill(): Promise<void>;
}

/** Makes a home with this configuration; the folder is reused by later starts until it is removed. */
export function makeHome(config: string): string {
  const home = mkdtempSync(join(tmpdir(), "signalbox-bench-"));
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, "signalbox.yaml"), config);
  return home;
}

export function removeHome(home: string): void {
  rmSync(home, { recursive: true, force: true });
}

/** Starts the gateway on `home` and waits until it is ready. `main` is its program: this build's, or another one's. */
export async function startProcess(home: string, port: number, main: string = MAIN): Promise<GatewayProcess> {
  const started = performance.now();
  const { variables = "", flags = "" } = FIRST_LINE.exec(readFileSync(main, "utf8"))?.groups ?? {};
  const env = {
    ...Object.fromEntries(
      variables
        .trim()
        .split(" ")
        .map((one) => one.split("=")),
    ),
    PATH: process.env["PATH"],
    HOME: home,
    SIGNALBOX_HOME: home,
    SIGNALBOX_TOKEN: TOKEN,
    NODE_COMPILE_CACHE: COMPILED,
  };
  const child = spawn(process.execPath, [...flags.split(" ").filter((flag) => flag !== ""), main, "start"], {
    env,
    stdio: ["ignore", "ignore", "pipe"],
  });
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    errors += text;
  });
  const url = `http://127.0.0.1:${port}`;
  const readyMs = await ready(child, `${url}/readyz`, started, () => errors);
  const pid = child.pid ?? 0;
  return {
    url,
    token: env.SIGNALBOX_TOKEN,
    home,
    readyMs,
    rss: () => 1024 * Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]),
    cpuMs() {
      const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
      return (Number(fields[11]) + Number(fields[12])) * 10;
    },
    io() {
      const text = readFileSync(`/proc/${pid}/io`, "utf8");
      return {
        bytes: Number(/write_bytes: (\d+)/.exec(text)?.[1]),
        writes: Number(/syscw: (\d+)/.exec(text)?.[1]),
      };
    },
    stop: () => end("SIGTERM"),
    kill: () => end("SIGKILL"),
  };

  async function end(signal: NodeJS.Signals): Promise<void> {
    const closed = new Promise((resolve) => child.once("close", resolve));
    child.kill(signal);
    await closed;
  }
}

/** Starts any program that answers on `url` and measures the same figures: the floor of a process. */
export async function startFloor(
  program: string,
  url: string,
): Promise<{ readyMs: number; rss: number; stop(): Promise<void> }> {
  const started = performance.now();
  const child = spawn(process.execPath, ["-e", program], { stdio: ["ignore", "ignore", "pipe"] });
  const readyMs = await ready(child, url, started, () => "");
  const rss = 1024 * Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))?.[1]);
  return {
    readyMs,
    rss,
    async stop() {
      const closed = new Promise((resolve) => child.once("close", resolve));
      child.kill("SIGTERM");
      await closed;
    },
  };
}

async function ready(
  child: ChildProcess,
  url: string,
  started: number,
  errors: () => string,
): Promise<number> {
  for (let attempt = 0; attempt < 5_000; attempt++) {
    if (child.exitCode !== null) throw new Error(`the process ended with ${child.exitCode}: ${errors()}`);
    try {
      const response = await fetch(url);
      await response.arrayBuffer();
      if (response.ok) return performance.now() - started;
    } catch {
      // Not listening yet.
    }
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  throw new Error(`${url} did not answer: ${errors()}`);
}
