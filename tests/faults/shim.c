/* A disk and a machine that fail at the n-th call that changes a file: loaded with LD_PRELOAD, armed from Python.

   Modes: KILL ends the process at the n-th call, a write after half of its bytes. POWER does that and then empties every
   file that was written and not synced, as a power cut may. FULL lets the n-th call and all later ones that need room fail
   with ENOSPC, and ONCE the n-th alone. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

enum { OFF, COUNT, KILL, POWER, FULL, ONCE };

#define UNSYNCED 256

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int mode = OFF;
static long at, calls;
static struct {
    int fd;
    dev_t device;
    ino_t inode;
} unsynced[UNSYNCED];
static int files;

void fault_arm(int how, long n) {
    pthread_mutex_lock(&lock);
    mode = how, at = n, calls = 0;
    pthread_mutex_unlock(&lock);
}

long fault_calls(void) { return calls; }

#define REAL(name) \
    static __typeof__(&name) real; \
    if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

/* Ends the process where the shim itself fails, and says what it could not do; the driver shows what the process printed. */
static void give_up(const char *what, int fd) {
    dprintf(2, "the shim could not %s file descriptor %d: errno %d\n", what, fd, errno);
    _exit(99);
}

/* With the lock, so that no other thread closes what is emptied. */
static void die(void) {
    if (mode == POWER)
        for (int i = 0; i < files; i++)
            if (ftruncate(unsynced[i].fd, 0)) give_up("empty", unsynced[i].fd);
    kill(getpid(), SIGKILL);
    for (;;) pause();
}

/* Counts a call, and says whether it is the one; one that needs room fails from then on if the disk is full. */
static int strikes(int needs_room) {
    pthread_mutex_lock(&lock);
    int now = mode != OFF && ++calls >= at;
    int hit = (mode == KILL || mode == POWER) ? now && calls == at : now && needs_room && (mode == FULL || (mode == ONCE && calls == at));
    if (!hit) pthread_mutex_unlock(&lock);
    return hit; /* with the lock */
}

/* Ends the process, or leaves with the error. */
static int fail(void) {
    if (mode == KILL || mode == POWER) die();
    pthread_mutex_unlock(&lock);
    errno = ENOSPC;
    return -1;
}

static int is_file(int fd, struct stat *about) { return fd > 2 && !fstat(fd, about) && S_ISREG(about->st_mode); }

/* Keeps a file that is written and not synced. With the lock. */
static void keep(int fd, const struct stat *about) {
    if (mode != POWER) return;
    int known = 0;
    for (int i = 0; i < files; i++) known |= unsynced[i].inode == about->st_ino && unsynced[i].device == about->st_dev;
    if (!known && files < UNSYNCED) {
        unsynced[files].fd = fcntl(fd, F_DUPFD_CLOEXEC, 500);
        unsynced[files].device = about->st_dev;
        unsynced[files++].inode = about->st_ino;
    }
}

static void written(int fd, const struct stat *about) {
    pthread_mutex_lock(&lock);
    keep(fd, about);
    pthread_mutex_unlock(&lock);
}

static void synced(int fd) {
    struct stat about;
    if (mode != POWER || fstat(fd, &about)) return;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < files; i++)
        if (unsynced[i].inode == about.st_ino && unsynced[i].device == about.st_dev) {
            close(unsynced[i].fd);
            unsynced[i--] = unsynced[--files];
        }
    pthread_mutex_unlock(&lock);
}

ssize_t write(int fd, const void *data, size_t size) {
    REAL(write);
    struct stat about;
    if (mode == OFF || !is_file(fd, &about)) return real(fd, data, size);
    if (strikes(1)) {
        if (mode == KILL || mode == POWER) {
            if (real(fd, data, size / 2) < 0) give_up("write half to", fd);
            keep(fd, &about);
        }
        return fail();
    }
    ssize_t done = real(fd, data, size);
    written(fd, &about);
    return done;
}

int fsync(int fd) {
    REAL(fsync);
    if (strikes(1)) return fail();
    int done = real(fd);
    synced(fd);
    return done;
}

int rename(const char *from, const char *to) {
    REAL(rename);
    return strikes(1) ? fail() : real(from, to);
}

int renameat(int a, const char *from, int b, const char *to) {
    REAL(renameat);
    return strikes(1) ? fail() : real(a, from, b, to);
}

int mkdir(const char *path, mode_t permissions) {
    REAL(mkdir);
    return strikes(1) ? fail() : real(path, permissions);
}

int linkat(int a, const char *from, int b, const char *to, int flags) {
    REAL(linkat);
    return strikes(1) ? fail() : real(a, from, b, to, flags);
}

int link(const char *from, const char *to) {
    REAL(link);
    return strikes(1) ? fail() : real(from, to);
}

int unlink(const char *path) {
    REAL(unlink);
    return strikes(0) ? fail() : real(path);
}

int unlinkat(int folder, const char *path, int flags) {
    REAL(unlinkat);
    return strikes(0) ? fail() : real(folder, path, flags);
}

int rmdir(const char *path) {
    REAL(rmdir);
    return strikes(0) ? fail() : real(path);
}

#define OPEN(name) \
    int name(const char *path, int flags, ...) { \
        REAL(name); \
        va_list rest; \
        va_start(rest, flags); \
        mode_t permissions = flags & O_CREAT ? va_arg(rest, mode_t) : 0; \
        va_end(rest); \
        return flags & O_CREAT && strikes(1) ? fail() : real(path, flags, permissions); \
    }

OPEN(open)
OPEN(open64)
