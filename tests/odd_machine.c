/* Machines of other people, for a process that loads this library first (LD_PRELOAD).

   ODD_FLOCK=0           locks are accepted and do nothing
   ODD_FLOCK=38          locks are refused, with this error number
   ODD_FSYNC_FOLDER=22   a folder cannot be synced; files can
   ODD_HOST=name         the name of this machine
   ODD_KILL=1            a process may not send signals, for this reason
   ODD_THREADS=3         a process may start no more threads (ulimit -u)
*/
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>

static int refusal(const char *name) {
    errno = atoi(getenv(name));
    return errno ? -1 : 0;
}

int flock(int descriptor, int operation) {
    if (getenv("ODD_FLOCK"))
        return refusal("ODD_FLOCK");
    int (*real)(int, int) = dlsym(RTLD_NEXT, "flock");
    return real(descriptor, operation);
}

int fsync(int descriptor) {
    struct stat what;
    if (getenv("ODD_FSYNC_FOLDER") && fstat(descriptor, &what) == 0 && S_ISDIR(what.st_mode))
        return refusal("ODD_FSYNC_FOLDER");
    int (*real)(int) = dlsym(RTLD_NEXT, "fsync");
    return real(descriptor);
}

int gethostname(char *name, size_t length) {
    if (getenv("ODD_HOST")) {
        strncpy(name, getenv("ODD_HOST"), length);
        return 0;
    }
    int (*real)(char *, size_t) = dlsym(RTLD_NEXT, "gethostname");
    return real(name, length);
}

int kill(pid_t process, int number) {
    if (getenv("ODD_KILL"))
        return refusal("ODD_KILL");
    int (*real)(pid_t, int) = dlsym(RTLD_NEXT, "kill");
    return real(process, number);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *how, void *(*start)(void *),
                   void *value) {
    static int n_started;
    if (getenv("ODD_THREADS") && __sync_add_and_fetch(&n_started, 1) > atoi(getenv("ODD_THREADS")))
        return EAGAIN;
    int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) =
        dlsym(RTLD_NEXT, "pthread_create");
    return real(thread, how, start, value);
}
