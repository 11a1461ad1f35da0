/* Simulates a failing disk. Preloaded (LD_PRELOAD), it counts the changes that a process makes to the files below a
 * directory. At the Nth change it ends the process, simulates a full disk, or pauses the thread that makes the change.
 *
 *   FAULT_BELOW   the directory
 *   FAULT_KIND    kill   the process is killed; half of a write is done
 *                 power  the same, and writes that were not synced are lost: all, or a part that depends on FAULT_SEED
 *                 full   from then on, no write can make a file longer
 *                 gate   before the change, the thread waits until FAULT_GATE, a FIFO, is opened for writing and closed
 *   FAULT_AT      N; 0: never
 *   FAULT_COUNT   a file to which the number of changes is written when the process ends by itself
 *
 * To simulate a power failure, the bytes that each write or truncation replaces are kept until the file is synced.
 * Renaming and removing files are assumed to be durable at once. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct change {
    int file; /* index into files */
    off_t start, old_size;
    size_t length; /* of the replaced bytes */
    char *old;
    struct change *before;
};

static struct { dev_t device; ino_t inode; int fd; } files[1024];
static int file_count;
static struct change *last;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static const char *below;
static char kind;
static long at, count;
static unsigned long seed;

#define REAL(type, name, ...) \
    static type (*real_##name)(__VA_ARGS__); \
    __attribute__((constructor)) static void find_##name(void) { real_##name = dlsym(RTLD_NEXT, #name); }
REAL(ssize_t, write, int, const void *, size_t)
REAL(ssize_t, pwrite64, int, const void *, size_t, off_t)
REAL(int, ftruncate64, int, off_t)
REAL(int, fsync, int)
REAL(int, fdatasync, int)
REAL(int, rename, const char *, const char *)
REAL(int, unlink, const char *)

__attribute__((constructor)) static void begin(void) {
    const char *text;
    below = getenv("FAULT_BELOW");
    kind = (text = getenv("FAULT_KIND")) ? text[0] : 0;
    at = (text = getenv("FAULT_AT")) ? atol(text) : 0;
    seed = (text = getenv("FAULT_SEED")) ? strtoul(text, NULL, 10) : 0;
}

__attribute__((destructor)) static void end(void) {
    const char *path = getenv("FAULT_COUNT");
    FILE *file = path ? fopen(path, "w") : NULL;
    if (file) {
        fprintf(file, "%ld\n", count);
        fclose(file);
    }
}

static int is_below(const char *path) { return below && strncmp(path, below, strlen(below)) == 0; }

/* The index of a descriptor's file if it is below the directory and still has a name; otherwise -1. The library's own
 * descriptor of a file is never closed, because that would release the locks of the process. */
static int watched(int fd) {
    char link[64], path[4096];
    struct stat status;
    if (!below || fd < 3 || fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) || status.st_nlink == 0) return -1;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return -1;
    path[length] = 0;
    if (!is_below(path)) return -1;
    for (int i = 0; i < file_count; i++)
        if (files[i].device == status.st_dev && files[i].inode == status.st_ino) return i;
    if (file_count == 1024) abort();
    files[file_count].device = status.st_dev;
    files[file_count].inode = status.st_ino;
    files[file_count].fd = open(link, O_RDWR | O_CLOEXEC);
    if (files[file_count].fd < 0) abort();
    return file_count++;
}

static off_t size_of(int file) {
    struct stat status;
    return fstat(files[file].fd, &status) == 0 ? status.st_size : 0;
}

static void keep(int file, off_t start, size_t length) {
    if (kind != 'p') return;
    struct change *change = malloc(sizeof *change);
    *change = (struct change){.file = file, .start = start, .old_size = size_of(file), .before = last};
    change->old = calloc(1, length ? length : 1);
    ssize_t had = pread(files[file].fd, change->old, length, start);
    change->length = had > 0 ? (size_t)had : 0;
    last = change;
}

static void forget(int file) {
    for (struct change **link = &last; *link;) {
        struct change *change = *link;
        if (change->file != file) { link = &change->before; continue; }
        *link = change->before;
        free(change->old);
        free(change);
    }
}

static int coin(void) {
    seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
    return seed >> 20 & 1;
}

static void die(void) {
    int all = seed % 3 == 0;
    for (struct change *change = last; change && kind == 'p'; change = change->before) {
        int fd = files[change->file].fd;
        if (!all && coin()) continue;
        real_pwrite64(fd, change->old, change->length, change->start);
        off_t size = size_of(change->file);
        /* The file may keep space that was allocated and never written. */
        off_t end = change->start + (off_t)change->length;
        if (end < change->old_size) end = change->old_size;
        if (all || (size > end && coin())) real_ftruncate64(fd, change->old_size);
    }
    kill(getpid(), SIGKILL);
    for (;;) pause();
}

static void wait_at_gate(void) {
    char byte;
    int fd;
    do fd = open(getenv("FAULT_GATE"), O_RDONLY | O_CLOEXEC); while (fd < 0 && errno == EINTR);
    if (fd < 0) abort();
    while (read(fd, &byte, 1) < 0 && errno == EINTR) {}
    close(fd);
}

/* Counts a change. Returns whether the process ends at it. */
static int strikes(void) {
    if (++count != at || kind == 'f') return 0;
    if (kind != 'g') return 1;
    /* Other threads continue. */
    pthread_mutex_unlock(&mutex);
    wait_at_gate();
    pthread_mutex_lock(&mutex);
    return 0;
}
static int is_full(int file, off_t end) { return kind == 'f' && at && count >= at && end > size_of(file); }

static ssize_t write_at(int file, int fd, const void *bytes, size_t length, off_t start, int is_plain) {
    int now = strikes();
    if (is_full(file, start + (off_t)length)) { errno = ENOSPC; return -1; }
    keep(file, start, length);
    if (now) length /= 2;
    ssize_t done = is_plain ? real_write(fd, bytes, length) : real_pwrite64(fd, bytes, length, start);
    if (now) die();
    return done;
}

ssize_t write(int fd, const void *bytes, size_t length) {
    pthread_mutex_lock(&mutex);
    int file = watched(fd);
    ssize_t done = file < 0 ? real_write(fd, bytes, length)
                            : write_at(file, fd, bytes, length, lseek(fd, 0, SEEK_CUR), 1);
    int error = errno;
    pthread_mutex_unlock(&mutex);
    errno = error;
    return done;
}

ssize_t pwrite64(int fd, const void *bytes, size_t length, off_t start) {
    pthread_mutex_lock(&mutex);
    int file = watched(fd);
    ssize_t done = file < 0 ? real_pwrite64(fd, bytes, length, start) : write_at(file, fd, bytes, length, start, 0);
    int error = errno;
    pthread_mutex_unlock(&mutex);
    errno = error;
    return done;
}
ssize_t pwrite(int fd, const void *bytes, size_t length, off_t start) { return pwrite64(fd, bytes, length, start); }

int ftruncate64(int fd, off_t size) {
    pthread_mutex_lock(&mutex);
    int file = watched(fd);
    if (file >= 0) {
        if (strikes()) die();
        off_t old = size_of(file);
        keep(file, size, old > size ? (size_t)(old - size) : 0);
    }
    int done = real_ftruncate64(fd, size);
    int error = errno;
    pthread_mutex_unlock(&mutex);
    errno = error;
    return done;
}
int ftruncate(int fd, off_t size) { return ftruncate64(fd, size); }

static int sync_with(int (*real)(int), int fd) {
    pthread_mutex_lock(&mutex);
    int file = watched(fd);
    if (file >= 0 && strikes()) die();
    int done = real(fd);
    if (file >= 0 && done == 0) forget(file);
    pthread_mutex_unlock(&mutex);
    return done;
}
int fsync(int fd) { return sync_with(real_fsync, fd); }
int fdatasync(int fd) { return sync_with(real_fdatasync, fd); }

static void pass(const char *path) {
    char whole[4096];
    pthread_mutex_lock(&mutex);
    if (path[0] != '/' && getcwd(whole, sizeof whole)) path = whole;
    if (is_below(path) && strikes()) die();
    pthread_mutex_unlock(&mutex);
}
int rename(const char *from, const char *to) {
    pass(from);
    return real_rename(from, to);
}
int unlink(const char *path) {
    pass(path);
    return real_unlink(path);
}
