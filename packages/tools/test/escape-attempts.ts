/** Attempts of an agent to leave its workspace. Placeholders are filled in for each attempt. */

export interface Step {
  readonly tool: "read" | "write" | "edit" | "ls" | "exec";
  readonly args: Readonly<Record<string, string | number>>;
}
/** An attempt to read or change something outside: a name and calls. */
export type Attempt = readonly [name: string, ...steps: Step[]];

const read = (file_path: string): Step => ({ tool: "read", args: { file_path } });
const write = (file_path: string): Step => ({ tool: "write", args: { file_path, content: "spoiled" } });
const edit = (file_path: string): Step => ({
  tool: "edit",
  args: { file_path, old_string: "canary", new_string: "spoiled" },
});
const ls = (path: string): Step => ({ tool: "ls", args: { path } });
const exec = (command: string): Step => ({ tool: "exec", args: { command } });

/** Placeholders: the base folder, the gateway's process and the listener's port. */
const OUT = "@BASE@/outside";
const WS = "@BASE@/workspace";

export const PATHS: readonly Attempt[] = [
  ["parent", read("../outside/secret.txt")],
  ["parent, written", write("../outside/planted")],
  ["parent, edited", edit("../outside/secret.txt")],
  ["parent, listed", ls("..")],
  ["grandparent, listed", ls("../..")],
  ["absolute", read(`${OUT}/secret.txt`)],
  ["absolute, written", write(`${OUT}/planted`)],
  ["absolute, edited", edit(`${OUT}/secret.txt`)],
  ["absolute, listed", ls(OUT)],
  ["root", ls("/")],
  ["down and up", read("sub/../../outside/secret.txt")],
  ["down and up from a folder that is not there", read("none/../../outside/secret.txt")],
  ["written down and up from a folder that is not there", write("none/../../outside/planted")],
  ["dots and slashes", read(".//./sub//..//../outside//secret.txt")],
  ["many parents", read(`${"../".repeat(60)}@BASE@/outside/secret.txt`)],
  ["through the workspace's absolute path", read(`${WS}/../outside/secret.txt`)],
  ["written through the workspace's absolute path", write(`${WS}/../outside/planted`)],
  ["a sibling with the same beginning", read("@BASE@/workspace-evil/secret.txt")],
  ["a sibling with the same beginning, written", write("@BASE@/workspace-evil/planted")],
  ["a sibling by parent", read("../workspace-evil/secret.txt")],
  ["home sign", read("~/../../@BASE@/outside/secret.txt")],
  ["file URL", read(`file://${OUT}/secret.txt`)],
  ["percent escapes", read("%2e%2e/outside/secret.txt")],
  ["percent slash", read("..%2foutside%2fsecret.txt")],
  ["backslashes", read("..\\outside\\secret.txt")],
  ["wide dots", read("．．/outside/secret.txt")],
  ["one-dot leader", read("․․/outside/secret.txt")],
  ["NUL at the end", read(`../outside/secret.txt\u0000.md`)],
  ["NUL inside", write("ok.txt\u0000/../../outside/planted")],
  ["line break", read("\n../outside/secret.txt")],
  ["trailing space", read("../outside/secret.txt ")],
  ["trailing slash", write("../outside/planted/")],
  ["the process's root", read(`/proc/self/root${OUT}/secret.txt`)],
  ["the process's working folder", read("/proc/self/cwd/package.json")],
  ["the process's environment", read("/proc/self/environ")],
  ["another process's environment", read("/proc/@PID@/environ")],
  ["a descriptor", read("/proc/self/fd/0")],
  ["descriptors, listed", ls("/proc/self/fd")],
  ["/dev/fd", read("/dev/fd/0")],
  ["/dev/stdin", read("/dev/stdin")],
  ["passwords", read("/etc/shadow")],
  ["variable", read("$SIGNALBOX_TEST_CANARY")],
  ["braces", read("${SIGNALBOX_TEST_CANARY}")],
  ["command", read("$(cat ../outside/secret.txt)")],
  ["read-only folder, written", write("@BASE@/skills/planted")],
  ["read-only folder, edited", edit("@BASE@/skills/SKILL.md")],
  ["out of the read-only folder", read("@BASE@/skills/../outside/secret.txt")],
  ["out of the read-only folder by link", read("@BASE@/skills/link/secret.txt")],
  ["the gateway's state in the workspace", read(".state/signalbox.db")],
  ["the gateway's state, other case", read(".STATE/signalbox.db")],
  ["the gateway's state, written", write(".state/signalbox.yaml")],
  ["the gateway's state, new folder", write(".state/deep/er/planted")],
  ["the gateway's state, listed", ls(".state")],
  ["the gateway's state by link", read("state-link/signalbox.db")],
  ["the gateway's state by link, written", write("state-link/signalbox.yaml")],
  ["the gateway's state down and up", read("sub/../.state/signalbox.db")],
  ["an over-long path", read(`${"a/".repeat(3_000)}../outside/secret.txt`)],
  ["an over-long name", write("a".repeat(300))],
];

export const LINKS: readonly Attempt[] = [
  ["link to a file", read("link-file")],
  ["link to a file, edited", edit("link-file")],
  ["link to a file, written", write("link-file")],
  ["link to a file, relative", read("link-relative")],
  ["link to a file, relative, written", write("link-relative")],
  ["link to a folder", read("link-folder/secret.txt")],
  ["link to a folder, written", write("link-folder/planted")],
  ["link to a folder, new folders", write("link-folder/a/b/planted")],
  ["link to a folder, listed", ls("link-folder")],
  ["link to a folder, edited", edit("link-folder/secret.txt")],
  ["link to the root", read("link-root@BASE@/outside/secret.txt")],
  ["link to the root, listed", ls("link-root")],
  ["link to a link", read("chain-1")],
  ["link to a link, written", write("chain-1")],
  ["link below a folder", read("sub/link/secret.txt")],
  ["link and up", read("link-folder/../outside/secret.txt")],
  ["link and up, written", write("link-folder/../workspace-evil/planted")],
  ["link out and back in", read("link-back/../outside/secret.txt")],
  ["link with many parents", read("link-parents/outside/secret.txt")],
  ["link that goes round", read("loop-a")],
  ["link to nothing outside, written", write("link-dangling")],
  ["link to /proc/self/root", read(`link-proc${OUT}/secret.txt`)],
  ["link to /proc/self/environ", read("link-environ")],
  ["link to the sibling", read("link-sibling/secret.txt")],
  ["named pipe", read("pipe")],
];

export const SHELL: readonly Attempt[] = [
  ["cat", exec(`cat ${OUT}/secret.txt`)],
  ["cat by parent", exec("cat ../outside/secret.txt")],
  ["cat by link", exec("cat link-file link-folder/secret.txt chain-1")],
  ["find", exec("find / -name 'secret*' -exec cat {} + 2>/dev/null")],
  ["grep", exec("grep -rs canary- /dev /etc /home /mnt /opt /root /run /srv /tmp /var . ..")],
  ["write", exec(`echo spoiled > ${OUT}/planted`)],
  ["write by link", exec("echo spoiled > link-folder/planted; echo spoiled > link-file")],
  ["truncate", exec(`: > ${OUT}/secret.txt`)],
  ["remove", exec(`rm -rf ${OUT} @BASE@/skills/*`)],
  ["move the workspace away", exec(`mv ${WS} ${WS}2; mkdir -p ${OUT}`)],
  ["change the read-only folder", exec("echo spoiled > @BASE@/skills/SKILL.md")],
  ["the gateway's state", exec("cat .state/signalbox.db; ls -la .state")],
  [
    "the gateway's state, written",
    exec("echo spoiled > .state/signalbox.yaml; mkdir -p .state; echo spoiled > .state/signalbox.db"),
  ],
  ["the gateway's state, moved", exec("mv .state elsewhere; cat elsewhere/signalbox.db; rm -rf .state")],
  ["environment", exec("env; export -p; cat /proc/self/environ /proc/*/environ")],
  ["the gateway's environment", exec("cat /proc/@PID@/environ /proc/@PID@/cmdline")],
  ["the gateway's root", exec(`cat /proc/@PID@/root${OUT}/secret.txt /proc/1/root${OUT}/secret.txt`)],
  ["the gateway's folder", exec(`cd /proc/@PID@/cwd && cat package.json; ls /proc/1/cwd`)],
  [
    "the gateway's descriptors",
    exec("for f in /proc/self/fd/* /proc/1/fd/*; do head -c 200 $f </dev/null; done & sleep 0.3; kill %1"),
  ],
  ["inherited descriptors", exec("for n in 3 4 5 6 7 8 9 10 11 12; do (head -c 100 <&$n) 2>/dev/null; done")],
  ["kill the gateway", exec("kill -9 @PID@; kill -9 -1")],
  ["trace the gateway", exec(`python3 -c "import ctypes; print(ctypes.CDLL(None).ptrace(16, @PID@, 0, 0))"`)],
  ["the gateway's memory", exec("dd if=/proc/@PID@/mem bs=1 count=1; dd if=/dev/mem bs=1 count=1")],
  ["user namespace", exec(`unshare -Ur sh -c 'mount -t tmpfs x /usr; cat ${OUT}/secret.txt'`)],
  ["mount namespace", exec("unshare -m true; mount --bind / /tmp; mount -t proc proc /proc")],
  ["nested sandbox", exec(`bwrap --bind / / cat ${OUT}/secret.txt`)],
  [
    "enter the gateway's namespaces",
    exec(`nsenter -t @PID@ -a cat ${OUT}/secret.txt; nsenter -t 1 -m cat ${OUT}/secret.txt`),
  ],
  ["change root", exec("chroot /proc/1/root sh -c id; chroot . id")],
  ["become root", exec("sudo id; su -c id; setpriv --reuid=0 id; python3 -c 'import os; os.setuid(0)'")],
  ["set-user-id", exec("cp /bin/sh ./sh; chmod u+s ./sh; ./sh -p -c 'id -u'")],
  ["unmount the cover", exec("umount .state; umount /tmp; umount -l /proc; cat .state/signalbox.db")],
  ["device", exec("mknod ./disk b 8 0 && cat ./disk | head -c 100; cat /dev/sda /dev/vda | head -c 100")],
  [
    "kernel settings",
    exec("echo '|/bin/sh' > /proc/sys/kernel/core_pattern; echo b > /proc/sysrq-trigger; ls /sys"),
  ],
  ["control groups", exec("mkdir /sys/fs/cgroup/x; ls /sys/fs/cgroup")],
  ["passwords", exec("cat /etc/shadow /etc/sudoers /root/.ssh/* /home/*/.ssh/*")],
  ["history", exec("cat ~/.bash_history /root/.bash_history /root/.npmrc")],
  [
    "system files, written",
    exec("echo spoiled >> /etc/passwd; echo spoiled > /usr/bin/spoiled; touch /lib/spoiled /spoiled"),
  ],
  ["hard link", exec(`ln ${OUT}/secret.txt here; cat here`)],
  ["hard link by descriptor", exec("ln -L link-file here; cat here")],
  ["copy of a link", exec("cp -L link-file here; cp -r link-folder/ there; cat here there/*")],
  ["archive", exec(`tar chf x.tar link-folder ${OUT}; tar xf x.tar -O`)],
  [
    "archive with parents",
    exec("printf spoiled > p; tar cf x.tar --transform 's,^,../outside/,' p; tar xPf x.tar"),
  ],
  ["preloaded library", exec(`LD_PRELOAD=${OUT}/secret.txt true; LD_LIBRARY_PATH=${OUT} true`)],
  [
    "include by a program",
    exec(
      `python3 -c "print(open('${OUT}/secret.txt').read())"; awk 1 ${OUT}/secret.txt; sed -n p ${OUT}/secret.txt`,
    ),
  ],
  ["quoting out of the launcher", exec(`'; cat ${OUT}/secret.txt; echo '`)],
  ["quoting out of the launcher, double", exec(`"; cat ${OUT}/secret.txt; echo "$1" "$0"`)],
  ["an option of the launcher", exec(`--bind / / cat ${OUT}/secret.txt`)],
  ["network", exec("exec 5<>/dev/tcp/127.0.0.1/@PORT@ && echo spoiled >&5 && cat <&5")],
  [
    "network by a program",
    exec(`python3 -c "import socket; s=socket.create_connection(('127.0.0.1',@PORT@)); print(s.recv(99))"`),
  ],
  [
    "network by another address",
    exec(`python3 -c "import socket; s=socket.create_connection(('0.0.0.0',@PORT@)); print(s.recv(99))"`),
  ],
  [
    "network of IPv6",
    exec(`python3 -c "import socket; s=socket.create_connection(('::1',@PORT@)); print(s.recv(99))"`),
  ],
  [
    "abstract socket",
    exec(
      `python3 -c "import socket; s=socket.socket(socket.AF_UNIX); s.connect('\\0signalbox-@PID@'); print(s.recv(99))"`,
    ),
  ],
  [
    "socket outside",
    exec(
      `python3 -c "import socket; s=socket.socket(socket.AF_UNIX); s.connect('${OUT}/socket'); print(s.recv(99))"`,
    ),
  ],
  ["container socket", exec("ls -la /var/run/docker.sock /run/containerd; cat /run/secrets/*")],
  ["stay behind", exec(`(setsid nohup sh -c 'sleep 0.4; echo late > ${WS}/late' >/dev/null 2>&1 &)`)],
  [
    "stay behind, twice forked",
    exec(
      `python3 -c "import os,time\nif os.fork()==0:\n os.setsid()\n if os.fork()==0:\n  time.sleep(0.4); open('${WS}/late','w').write('late')"`,
    ),
  ],
  ["scheduler", exec("crontab -l; echo '* * * * * id' | crontab -; at now")],
  ["terminal", exec(`python3 -c "import fcntl,termios; fcntl.ioctl(0, termios.TIOCSTI, b'x')"`)],
  ["cwd parent", { tool: "exec", args: { command: "cat secret.txt", cwd: "../outside" } }],
  ["cwd absolute", { tool: "exec", args: { command: "cat secret.txt", cwd: OUT } }],
  ["cwd by link", { tool: "exec", args: { command: "cat secret.txt", cwd: "link-folder" } }],
  [
    "cwd in the read-only folder",
    { tool: "exec", args: { command: "echo spoiled > planted", cwd: "@BASE@/skills" } },
  ],
  ["no end", { tool: "exec", args: { command: "id", timeout_seconds: 9_999 } }],
];

export const SEQUENCES: readonly Attempt[] = [
  ["a link made by a command, then read", exec(`ln -s ${OUT}/secret.txt fresh`), read("fresh")],
  ["a link made by a command, then written", exec(`ln -s ${OUT} fresh`), write("fresh/planted")],
  ["a link made by a command, then edited", exec(`ln -s ${OUT}/secret.txt fresh`), edit("fresh")],
  ["a link to where the sandbox has a file", exec("ln -s /proc/self/environ fresh"), read("fresh")],
  [
    "a folder replaced by a link",
    exec(`rm -rf sub && ln -s ${OUT} sub`),
    read("sub/secret.txt"),
    write("sub/planted"),
    ls("sub"),
  ],
  [
    "the working folder's files replaced",
    exec(`rm -rf ./* && ln -s ${OUT}/secret.txt README.md`),
    read("README.md"),
  ],
  [
    "a link in place of the state",
    exec(`ln -s .state other`),
    read("other/signalbox.db"),
    write("other/signalbox.yaml"),
  ],
  ["a set-user-id file", exec("printf '#!/bin/sh\\nid -u' > tool; chmod 6777 tool; ./tool")],
  [
    "a script written, then run",
    write("run.sh"),
    exec(`sh run.sh; printf 'cat ${OUT}/secret.txt' > run.sh; sh run.sh`),
  ],
  ["a pipe made by a command, then read", exec("mkfifo fresh"), read("fresh"), write("fresh")],
];
