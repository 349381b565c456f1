/** The program that a service starts. */
export interface ServiceProgram {
  readonly node: string;
  readonly program: string;
  readonly home: string;
}

/** Time limit for stopping, in seconds. Longer than the gateway needs to let runs reach a committed step. */
const STOP_SECONDS = 45;

/**
 * Returns a systemd unit. It drops privileges that are needed by neither the gateway nor bubblewrap, the sandbox for
 * agents' commands.
 *
 * @param user runs the gateway as this user, in a unit of the system. Default: a unit of the current user
 */
export function systemdUnit({ node, program, home }: ServiceProgram, user?: string): string {
  const words = [program, "start"].map(unitParameter);
  return `[Unit]
Description=Signalbox, a gateway between chat platforms and LLM agents
After=network-online.target
Wants=network-online.target
StartLimitIntervalSec=300
StartLimitBurst=10

[Service]
ExecStart=${[unitWord(node), ...words].join(" ")}${unitHome(home)}# Commands of agents get groups of their own below, with limits.
Delegate=memory pids
Restart=on-failure
RestartSec=2
# 78: the configuration is wrong, and would be wrong again.
RestartPreventExitStatus=78
TimeoutStopSec=${STOP_SECONDS}
UMask=0077
LockPersonality=true
RestrictRealtime=true
${user === undefined ? "" : systemSettings(user, home)}
[Install]
WantedBy=${user === undefined ? "default.target" : "multi-user.target"}
`;
}

/**
 * Settings of a unit of the system. They hide neither `/proc` nor kernel settings, because bubblewrap then could not
 * mount its own `/proc`.
 */
function systemSettings(user: string, home: string): string {
  return `User=${user}
Environment=HOME=${unitWord(home)}
NoNewPrivileges=true
PrivateTmp=true
ProtectHome=true
ProtectSystem=strict
ReadWritePaths=${unitWord(home)}
`;
}

/** Formats the home as in a systemd unit. */
export function unitHome(home: string): string {
  return ` --home ${unitParameter(home)}\n`;
}

/** Escapes `$` in an argument. systemd expands variables in arguments, but not in the program path. */
function unitParameter(word: string): string {
  return unitWord(word.replaceAll("$", "$$$$"));
}

/** Quotes a word of `ExecStart`. systemd interprets quotes, backslashes, percent signs and line breaks. */
function unitWord(word: string): string {
  const escaped = word
    .replaceAll("%", "%%")
    .replace(/["\\]/g, "\\$&")
    .replaceAll("\n", "\\n")
    .replaceAll("\r", "\\r");
  return /[\s"'\\;]/.test(escaped) ? `"${escaped}"` : escaped;
}

/**
 * Returns a launchd property list. launchd does not rotate logs, so the gateway only logs to its own file, which is
 * rotated.
 */
export function launchdPlist(label: string, { node, program, home }: ServiceProgram): string {
  const words = [node, program, "start", "--quiet"];
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key><string>${xml(label)}</string>
  <key>ProgramArguments</key>
  <array>
${words.map(plistWord).join("")}${plistHome(home)}  </array>
  <key>RunAtLoad</key><true/>
  <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>
  <key>ExitTimeOut</key><integer>${STOP_SECONDS}</integer>
  <key>Umask</key><integer>63</integer>
  <key>StandardErrorPath</key><string>${xml(home)}/service.log</string>
</dict>
</plist>
`;
}

/** Formats the home as in a launchd property list. */
export function plistHome(home: string): string {
  return `${plistWord("--home")}${plistWord(home)}`;
}

function plistWord(word: string): string {
  return `    <string>${xml(word)}</string>\n`;
}

function xml(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll("\r", "&#13;");
}
