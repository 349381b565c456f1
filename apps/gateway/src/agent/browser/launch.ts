import { chmod, lstat, mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { EgressProxy, Sandbox, SandboxedProgram } from "@signalbox/tools";
import type { BrowserPrograms } from "../../configure/browser-programs.ts";

/** The folders of one agent's browser. */
export interface BrowserFolders {
  /** Cookies, sign-ins and other data of pages. Kept between starts. */
  readonly profile: string;
  /** Downloads and screenshots. Emptied at each start. */
  readonly output: string;
}

/** The same folders as the browser sees them. */
const INSIDE = {
  profile: "/browser/profile",
  output: "/browser/output",
  modules: "/opt/signalbox/node_modules",
  config: "/run/signalbox/browser.json",
  node: "/run/signalbox/node",
} as const;

/** Maximum size of the browser's cache on disk, in bytes. */
const CACHE_BYTES = 50_000_000;
/** Maximum total size of downloads and screenshots. The oldest files are removed first. */
const OUTPUT_BYTES = 200_000_000;
const [WIDTH, HEIGHT] = [1280, 800];

/** Storage of pages without sign-ins. A hostile page can fill it. */
const PAGE_STORAGE = [
  "IndexedDB",
  "File System",
  "Service Worker",
  "Cache",
  "Code Cache",
  "GPUCache",
  "DawnGraphiteCache",
  "DawnWebGPUCache",
  "blob_storage",
  "WebStorage",
  "Shared Dictionary",
];

/**
 * Creates the folders, and removes the files of a killed browser.
 *
 * @param isFull returns true if the storage of pages must be deleted from the profile to free space
 */
export async function prepareFolders(
  base: string,
  isFull: (folders: BrowserFolders) => Promise<boolean>,
): Promise<BrowserFolders> {
  const folders = { profile: join(base, "profile"), output: join(base, "output") };
  await rm(folders.output, { recursive: true, force: true });
  for (const folder of [base, folders.profile, folders.output]) {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await chmod(folder, 0o700);
  }
  // The lock of a browser that was killed. The process id in it could belong to a process of the new sandbox.
  for (const name of await readdir(folders.profile))
    if (name.startsWith("Singleton")) await rm(join(folders.profile, name), { force: true });
  await removeLink(join(folders.profile, "Default"));
  if (await isFull(folders))
    for (const name of PAGE_STORAGE)
      await rm(join(folders.profile, "Default", name), { recursive: true, force: true });
  return folders;
}

/** Removes a link that a hostile browser has put in the place of a folder. It would lead out of the profile. */
async function removeLink(path: string): Promise<void> {
  const info = await lstat(path).catch(() => undefined);
  if (info?.isSymbolicLink() === true) await rm(path);
}

/** Starts the MCP server and, on its first call, the browser, in the sandbox. Both can reach only the proxy. */
export function launchBrowser(
  sandbox: Sandbox,
  { serverDir, coreDir, executable, executableDir }: BrowserPrograms,
  folders: BrowserFolders,
  { proxy, proxyPort }: { readonly proxy: EgressProxy; readonly proxyPort: number },
): SandboxedProgram {
  if (sandbox.open === undefined)
    throw new Error(`The browser cannot start: ${sandbox.reason ?? "there is no sandbox on this machine."}`);
  return sandbox.open({
    file: INSIDE.node,
    args: [`${INSIDE.modules}/@playwright/mcp/cli.js`, "--config", INSIDE.config],
    env: {
      HOME: "/tmp",
      // Otherwise, the browser would also read the configuration of other programs.
      XDG_CONFIG_HOME: "/tmp/config",
      XDG_CACHE_HOME: "/tmp/cache",
    },
    cwd: INSIDE.output,
    mounts: [
      { from: serverDir, to: `${INSIDE.modules}/@playwright/mcp` },
      { from: coreDir, to: `${INSIDE.modules}/playwright-core` },
      ...(executableDir === undefined ? [] : [{ from: executableDir, to: executableDir }]),
      { from: folders.profile, to: INSIDE.profile, writable: true },
      { from: folders.output, to: INSIDE.output, writable: true },
    ],
    files: [
      { path: INSIDE.config, content: JSON.stringify(createServerConfig(executable, proxyPort)) },
      ...POLICY_FOLDERS.map((folder) => ({
        path: `${folder}/signalbox.json`,
        content: JSON.stringify(BROWSER_POLICY),
      })),
    ],
    proxy,
  });
}

/**
 * Returns the configuration of `@playwright/mcp`. The browser's own sandbox is off, because it needs privileges that
 * the outer sandbox takes away.
 *
 * @see https://playwright.dev/mcp/configuration/options
 */
function createServerConfig(executable: string, proxyPort: number): object {
  return {
    browser: {
      browserName: "chromium",
      userDataDir: INSIDE.profile,
      launchOptions: {
        executablePath: executable,
        headless: true,
        chromiumSandbox: false,
        // Without this entry, the browser would connect to loopback addresses directly.
        proxy: { server: `http://127.0.0.1:${proxyPort}`, bypass: "<-loopback>" },
        args: [
          "--disable-gpu",
          "--disable-quic",
          "--disable-sync",
          "--disable-domain-reliability",
          `--disk-cache-size=${CACHE_BYTES}`,
          "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
        ],
        ignoreDefaultArgs: ["--disable-popup-blocking"],
      },
      contextOptions: {
        viewport: { width: WIDTH, height: HEIGHT },
        // A service worker would outlive the visit of its page.
        serviceWorkers: "block",
        acceptDownloads: true,
        permissions: [],
      },
    },
    capabilities: ["core"],
    outputDir: INSIDE.output,
    outputMaxSize: OUTPUT_BYTES,
    webmcp: false,
    codegen: "none",
    snapshot: { mode: "none" },
    imageResponses: "allow",
    console: { level: "error" },
    timeouts: { action: 10_000, navigation: 30_000, idle: 0 },
  };
}

/** Folders from which Chromium, Google Chrome and Chrome for Testing read policies. */
const POLICY_FOLDERS = [
  "/etc/chromium/policies/managed",
  "/etc/opt/chrome/policies/managed",
  "/etc/opt/chrome_for_testing/policies/managed",
];

/**
 * Enterprise policies that no page can change.
 *
 * @see https://chromeenterprise.google/policies/
 */
const BROWSER_POLICY = {
  URLBlocklist: [
    "file://*",
    "chrome://*",
    "chrome-untrusted://*",
    "devtools://*",
    "view-source:*",
    "ftp://*",
  ],
  ExtensionInstallBlocklist: ["*"],
  PasswordManagerEnabled: false,
  AutofillAddressEnabled: false,
  AutofillCreditCardEnabled: false,
  AudioCaptureAllowed: false,
  VideoCaptureAllowed: false,
  ScreenCaptureAllowed: false,
  BackgroundModeEnabled: false,
  MetricsReportingEnabled: false,
  SafeBrowsingProtectionLevel: 0,
  DefaultGeolocationSetting: 2,
  DefaultNotificationsSetting: 2,
  DefaultWebBluetoothGuardSetting: 2,
  DefaultWebUsbGuardSetting: 2,
  DefaultSerialGuardSetting: 2,
  DefaultWebHidGuardSetting: 2,
  DefaultFileSystemReadGuardSetting: 2,
  DefaultFileSystemWriteGuardSetting: 2,
  DefaultPopupsSetting: 2,
};
