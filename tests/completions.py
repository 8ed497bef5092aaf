#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Types command lines into real shells and looks at what Tab makes of them: bash and zsh on a
pseudo-terminal, fish by its own means. Prints TAP. Called by check_completions.sh.
  completions.py FOLDER_OF_COMPLETIONS"""
import fcntl, os, pty, re, select, signal, struct, subprocess, sys, termios, time

LIMIT_S = 30
folder = sys.argv[1]


def a_group():
    """The path of a control group whose name needs no quotes."""
    mounts = [line.split() for line in open("/proc/self/mounts")]
    roots = [m[1] for m in mounts if m[2] == "cgroup2"] + [m[1] for m in mounts if m[2] == "cgroup"]
    for root in roots[:1]:
        for entry in sorted(os.scandir(root), key=lambda e: e.name):
            if entry.is_dir() and re.fullmatch(r"[A-Za-z0-9._]{3,}", entry.name):
                return "/" + entry.name
    return None


# What is typed, and what must be on the line or in the list then.
CASES = [
    ("stalltop --group-", "--group-by"),
    ("stalltop --unit ", "percent"),
    ("stalltop --unit=av", "avg"),
    ("stalltop --record=%s/stalltop.ba" % folder, "stalltop.bash"),
    ("stalltop -g cgr", "cgroup"),
    ("stalltop -o js", "json"),
    ("stalltop --source procf", "procfs"),
    ("stalltop --sort=-blki", "-blkio"),
    ("stalltop -s wpc", "wpcopy"),
    ("stalltop -F pid,wpc", "pid,wpcopy"),
    ("stalltop -p 1,%d" % (os.getpid() // 10), str(os.getpid())),
    ("stalltop -u daemon,roo", "daemon,root"),
    ("stalltop --when memor", "memory"),
    ("stalltop --cgroup-hierarchy v", "v2"),
    ("stalltop -R %s/stalltop.ba" % folder, "stalltop.bash"),
    ("stalltop -b -- mkfif", "mkfifo"),
]
# Files with a space, and with what a shell would make more of.
home = os.environ["HOME"]
for file in "two words.db", "all*.db":
    open(os.path.join(home, file), "w").close()
CASES += [
    ("stalltop -R %s/two" % home, "two\\ words.db"),
    ("stalltop -w %s/al" % home, "all\\*.db"),
]
group = a_group()
if group:
    CASES.append(("stalltop --cgroup " + group[:-1], group))


class Shell:
    """A shell on a pseudo-terminal."""

    def __init__(self, argv, ready):
        self.seen, self.lines = "", 0
        self.pid, self.fd = pty.fork()
        if not self.pid:
            os.environ.update(TERM="dumb", PS1="$ ", INPUTRC="/dev/null", HISTFILE="")
            os.execvp(argv[0], argv)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 500, 0, 0))
        for line in ready:
            self.enter(line)

    def type(self, text):
        os.write(self.fd, text.encode())

    def sees(self, text, limit=LIMIT_S):
        """Reads until the text is there; false if it does not come."""
        end = time.monotonic() + limit
        while text not in self.seen:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.fd], [], [], left)[0]:
                return False
            self.seen += os.read(self.fd, 4096).decode(errors="replace")
        return True

    def enter(self, line):
        """Has the shell run a line to its end; what was there before is forgotten."""
        self.lines += 1
        self.type("\x05\x15%s; echo en''d%d.\n" % (line or ":", self.lines))
        if not self.sees("end%d." % self.lines):
            sys.exit("# the shell does not answer: %r" % self.seen)
        self.seen = ""

    def completes(self, line, want):
        self.type(line + "\t")
        good = self.sees(want, 2)
        if not good:  # what is left of several is listed at the second
            self.type("\t")
            good = self.sees(want)
        seen = self.seen
        self.enter("")
        return good, seen

    def close(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.fd)


class Fish:
    def completes(self, line, want):
        done = subprocess.run(
            ["fish", "--no-config", "-c",
             "source %s/stalltop.fish; complete -C '%s'" % (folder, line)],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
            timeout=LIMIT_S, text=True)
        return want.replace("\\", "") in done.stdout, done.stdout

    def close(self):
        pass


def shells():
    yield "bash", Shell(["bash", "--norc", "--noprofile", "-i"],
                        ["bind 'set enable-bracketed-paste off'",
                         "bind 'set show-all-if-ambiguous on'",
                         "bind 'set completion-query-items 0'; bind 'set page-completions off'",
                         ". %s/stalltop.bash" % folder])
    yield "zsh", Shell(["zsh", "-f", "-i"],
                       ["bindkey -e; LISTMAX=9999",
                        "fpath=(%s $fpath); autoload -Uz compinit; compinit -u -D" % folder])
    yield "fish", Fish()


print("1..%d" % (3 * len(CASES)))
number = failed = 0
for name, shell in shells():
    for line, want in CASES:
        number += 1
        good, seen = shell.completes(line, want)
        print("%sok %d - %s: %s" % ("" if good else "not ", number, name, line), flush=True)
        if not good:
            failed += 1
            print("# " + repr(seen))
    shell.close()
sys.exit(failed > 0)
