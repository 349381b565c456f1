/**
 * Inherited variables, with which programs find executables, files and ssh keys. They contain no secrets of the
 * gateway.
 */
const INHERITED_ENV = [
  "PATH",
  "HOME",
  "USER",
  "LOGNAME",
  "LANG",
  "LC_ALL",
  "TZ",
  "TMPDIR",
  "SSH_AUTH_SOCK",
  "SystemRoot",
  "USERPROFILE",
];

/**
 * Returns the environment for a child process: the variables that programs and ssh need, and `added`. The gateway's own
 * variables, which may contain secrets, are not inherited.
 */
export function createChildEnvironment(added: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  const inherited = INHERITED_ENV.flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return { ...Object.fromEntries(inherited), ...added };
}
