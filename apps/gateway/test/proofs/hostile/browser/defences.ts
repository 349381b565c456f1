/** A check, the change of the sources that removes it, and the attacks that succeed without it. */
export interface BrowserDefence {
  readonly name: string;
  readonly attacks: readonly string[];
  readonly changes: readonly {
    readonly of: "tools" | "browser";
    readonly file: string;
    readonly from: string;
    readonly to: string;
  }[];
}

export const BROWSER_DEFENCES: readonly BrowserDefence[] = [
  {
    name: "the proxy refuses private addresses",
    attacks: ["requests to private addresses", "a redirect to a metadata address", "a WebSocket to loopback"],
    changes: [
      {
        of: "tools",
        file: "web/guarded-target.ts",
        from: "if (!allowed && !addresses.every(isPublicAddress))",
        to: "if (false)",
      },
    ],
  },
  {
    name: "all addresses of a name are public",
    attacks: ["DNS rebinding"],
    changes: [
      {
        of: "tools",
        file: "web/guarded-target.ts",
        from: "!addresses.every(isPublicAddress)",
        to: "!addresses.some(isPublicAddress)",
      },
    ],
  },
  {
    name: "pages open no windows and install no service workers",
    attacks: ["popups", "a service worker"],
    changes: [
      {
        of: "browser",
        file: "launch.ts",
        from: 'ignoreDefaultArgs: ["--disable-popup-blocking"]',
        to: "ignoreDefaultArgs: []",
      },
      { of: "browser", file: "launch.ts", from: "DefaultPopupsSetting: 2", to: "DefaultPopupsSetting: 1" },
      { of: "browser", file: "launch.ts", from: 'serviceWorkers: "block"', to: 'serviceWorkers: "allow"' },
    ],
  },
  {
    name: "operating a page needs approval in a tainted run",
    attacks: ["instructions on a page"],
    changes: [
      {
        of: "tools",
        file: "policy.ts",
        from: "if (facts.taint.length > 0)\n",
        to: 'if (facts.taint.length > 0 && kind !== "operate_page")\n',
      },
    ],
  },
];
