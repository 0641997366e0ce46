/* Runs a program, counts the system calls by which it changes files, and makes one of them fail.
 *
 *   interfere FAULT NUMBER LOG PLACES PROGRAM [ARGUMENT]...
 *
 * PLACES are beginnings of paths, separated by colons: only calls on such files count, and only those of
 * the program, not of programs that it starts. `socket` stands for connections. Each call that counts is
 * a line of LOG. FAULT is what happens to the call of this NUMBER, from 1 on:
 *
 *   none   nothing
 *   kill   the program is killed before the call
 *   tear   half of what the call writes arrives, then the program is killed; other calls are made first
 *   short  half of what the call writes arrives, and the program goes on
 *   part   half of what the call writes arrives, and what is left finds no space on the device; then there
 *          is room again
 *   full   the call fails, and all later ones that need room: no space left on the device
 *   eio    the call fails: input/output error
 *
 * The program ends with this process, and this process like the program: a signal N is exit code 128 + N.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

/* What the arguments of a call name. */
enum about { FD, OPEN, OPEN_AT, PATH, AT_PATH, RENAME, RENAME_AT };

/* `room`: whether it fails on a full disk. `length`: which argument counts bytes, or -1. */
static const struct call {
    long number;
    const char *name;
    enum about about;
    int room, length;
} CALLS[] = {
    {SYS_write, "write", FD, 1, 2},
    {SYS_pwrite64, "pwrite64", FD, 1, 2},
    {SYS_writev, "writev", FD, 1, -1},
    {SYS_pwritev, "pwritev", FD, 1, -1},
    {SYS_sendto, "sendto", FD, 0, -1},
    {SYS_sendmsg, "sendmsg", FD, 0, -1},
    {SYS_copy_file_range, "copy_file_range", FD, 1, -1},
    {SYS_sendfile, "sendfile", FD, 1, -1},
    {SYS_ftruncate, "ftruncate", FD, 0, -1},
    {SYS_fallocate, "fallocate", FD, 1, -1},
    {SYS_fsync, "fsync", FD, 0, -1},
    {SYS_fdatasync, "fdatasync", FD, 0, -1},
    {SYS_openat, "openat", OPEN_AT, 1, -1},
    {SYS_unlinkat, "unlinkat", AT_PATH, 0, -1},
    {SYS_mkdirat, "mkdirat", AT_PATH, 1, -1},
    {SYS_renameat2, "renameat2", RENAME_AT, 1, -1},
    {SYS_linkat, "linkat", RENAME_AT, 1, -1},
    {SYS_renameat, "renameat", RENAME_AT, 1, -1},
    {SYS_open, "open", OPEN, 1, -1},
    {SYS_unlink, "unlink", PATH, 0, -1},
    {SYS_rmdir, "rmdir", PATH, 0, -1},
    {SYS_mkdir, "mkdir", PATH, 1, -1},
    {SYS_rename, "rename", RENAME, 1, -1},
    {SYS_link, "link", RENAME, 1, -1},
};
#define N_CALLS (sizeof CALLS / sizeof *CALLS)

static pid_t program;

static void fail(const char *what) {
    fprintf(stderr, "interfere: %s: %s\n", what, strerror(errno));
    exit(125);
}

/* Has the kernel stop the program at the calls of the table, and at no others. */
static void install_filter(void) {
    struct sock_filter code[2 * N_CALLS + 8];
    size_t n = 0;
#define SAY(...) code[n++] = (struct sock_filter)__VA_ARGS__
    SAY(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)));
    SAY(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0));
    SAY(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
    SAY(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)));
    for (size_t at = 0; at < N_CALLS; at++) {
        SAY(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)CALLS[at].number, 0, 1));
        SAY(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE));
    }
    SAY(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
    struct sock_fprog filter = {.len = (unsigned short)n, .filter = code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0))
        fail("seccomp");
}

/* The path behind a link of /proc, or nothing. */
static void read_link_of(char *path, const char *form, pid_t thread, long fd) {
    char link[64];
    snprintf(link, sizeof link, form, thread, fd);
    ssize_t length = readlink(link, path, PATH_MAX - 1);
    path[length < 0 ? 0 : length] = 0;
}

static void read_text(pid_t thread, unsigned long address, char *text) {
    size_t at = 0;
    while (at + sizeof(long) < PATH_MAX) {
        errno = 0;
        long word = ptrace(PTRACE_PEEKDATA, thread, address + at, NULL);
        if (errno) break;
        memcpy(text + at, &word, sizeof word);
        if (memchr(&word, 0, sizeof word)) return;
        at += sizeof word;
    }
    text[at] = 0;
}

/* The whole path of an argument that is relative to a folder. */
static void read_path(pid_t thread, long folder, unsigned long address, char *path) {
    char text[PATH_MAX];
    read_text(thread, address, text);
    if (text[0] == '/') {
        strcpy(path, text);
        return;
    }
    if ((int)folder == AT_FDCWD)
        read_link_of(path, "/proc/%d/cwd", thread, 0);
    else
        read_link_of(path, "/proc/%d/fd/%ld", thread, (long)(int)folder);
    size_t length = strlen(path);
    snprintf(path + length, PATH_MAX - length, "/%s", text);
}

/* The file that a call changes; nothing if it changes none. */
static void find_file(const struct call *call, pid_t thread, struct user_regs_struct *regs, char *path) {
    long flags = O_CREAT;
    int opens = call->about == OPEN || call->about == OPEN_AT;
    switch (call->about) {
    case FD: read_link_of(path, "/proc/%d/fd/%ld", thread, (long)(int)regs->rdi); break;
    case OPEN: flags = (long)regs->rsi; /* fall through */
    case PATH: read_path(thread, AT_FDCWD, regs->rdi, path); break;
    case OPEN_AT: flags = (long)regs->rdx; /* fall through */
    case AT_PATH: read_path(thread, (long)regs->rdi, regs->rsi, path); break;
    case RENAME: read_path(thread, AT_FDCWD, regs->rsi, path); break;
    case RENAME_AT: read_path(thread, (long)regs->rdx, regs->r10, path); break;
    }
    /* Opening changes something only if it makes or empties a file. */
    int makes = (flags & O_CREAT) && access(path, F_OK) != 0;
    if (opens && !makes && !(flags & O_TRUNC)) path[0] = 0;
}

static int counts(const char *path, char *const *places) {
    for (; *places; places++)
        if (!strncmp(path, *places, strlen(*places))) return 1;
    return 0;
}

static int is_of_program(pid_t thread) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task/%d", program, thread);
    return access(path, F_OK) == 0;
}

/* Has the call return an error without being made. */
static void refuse(pid_t thread, struct user_regs_struct *regs, int error) {
    regs->orig_rax = (unsigned long)-1;
    regs->rax = (unsigned long)-error;
    ptrace(PTRACE_SETREGS, thread, NULL, regs);
}

static void halve(pid_t thread, struct user_regs_struct *regs, const struct call *call) {
    if (call->length != 2 || regs->rdx < 2) return;
    regs->rdx /= 2;
    ptrace(PTRACE_SETREGS, thread, NULL, regs);
}

static void pass_on(int signal) { kill(program, signal); }

int main(int argc, char **argv) {
    if (argc < 6) {
        fprintf(stderr, "usage: interfere FAULT NUMBER LOG PLACES PROGRAM [ARGUMENT]...\n");
        return 125;
    }
    const char *fault = argv[1];
    long number = atol(argv[2]), n_seen = 0;
    int is_rest = 0;
    FILE *log = fopen(argv[3], "we");
    if (!log) fail(argv[3]);
    setvbuf(log, NULL, _IOLBF, 0);
    char *places[16] = {0};
    size_t n_places = 0;
    for (char *place = strtok(argv[4], ":"); place && n_places < 15; place = strtok(NULL, ":"))
        places[n_places++] = place;

    int ready[2];
    if (pipe2(ready, O_CLOEXEC)) fail("pipe");
    program = fork();
    if (program < 0) fail("fork");
    if (program == 0) {
        char byte;
        if (read(ready[0], &byte, 1) != 1) _exit(125);
        install_filter();
        execvp(argv[5], argv + 5);
        fail(argv[5]);
    }
    long options = PTRACE_O_TRACESECCOMP | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK |
                   PTRACE_O_TRACEVFORK | PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL;
    if (ptrace(PTRACE_SEIZE, program, NULL, options)) fail("ptrace");
    struct sigaction action = {.sa_handler = pass_on, .sa_flags = SA_RESTART};
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    if (write(ready[1], "", 1) != 1) fail("pipe");

    for (;;) {
        int status;
        pid_t thread = waitpid(-1, &status, __WALL);
        if (thread < 0) {
            if (errno == EINTR) continue;
            fail("waitpid");
        }
        if (WIFEXITED(status) || WIFSIGNALED(status)) {
            if (thread != program) continue;
            return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        }
        int signal = WSTOPSIG(status), event = status >> 16;
        if (event == PTRACE_EVENT_STOP && signal != SIGTRAP) {
            ptrace(PTRACE_LISTEN, thread, NULL, 0);
            continue;
        }
        if (signal == (SIGTRAP | 0x80)) {
            /* The end of a call after which the program is to be killed. */
            kill(program, SIGKILL);
            continue;
        }
        if (event != PTRACE_EVENT_SECCOMP) {
            ptrace(PTRACE_CONT, thread, NULL, event ? 0 : signal);
            continue;
        }
        struct user_regs_struct regs;
        int then = PTRACE_CONT;
        if (ptrace(PTRACE_GETREGS, thread, NULL, &regs)) continue;
        const struct call *call = CALLS;
        while (call < CALLS + N_CALLS && call->number != (long)regs.orig_rax) call++;
        char path[PATH_MAX];
        static char parted[PATH_MAX];
        if (call < CALLS + N_CALLS && is_of_program(thread)) {
            find_file(call, thread, &regs, path);
            if (path[0] && counts(path, places)) {
                n_seen++;
                fprintf(log, "%ld %s %s\n", n_seen, call->name, path);
                int is_it = n_seen == number;
                if (is_it && !strcmp(fault, "kill")) {
                    kill(program, SIGKILL);
                    continue;
                } else if (is_it && !strcmp(fault, "tear")) {
                    halve(thread, &regs, call);
                    then = PTRACE_SYSCALL;
                } else if (is_it && !strcmp(fault, "short")) {
                    halve(thread, &regs, call);
                } else if (is_it && !strcmp(fault, "part")) {
                    halve(thread, &regs, call);
                    is_rest = 1;
                    strcpy(parted, path);
                } else if (is_rest && !strcmp(path, parted) && call->length >= 0) {
                    refuse(thread, &regs, ENOSPC);
                    is_rest = 0;
                } else if (is_it && !strcmp(fault, "eio")) {
                    refuse(thread, &regs, EIO);
                } else if (!strcmp(fault, "full") && n_seen >= number && call->room) {
                    refuse(thread, &regs, ENOSPC);
                }
            }
        }
        ptrace(then, thread, NULL, 0);
    }
}
