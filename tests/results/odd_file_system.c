/* File systems of other people, for a process that loads this library first (LD_PRELOAD).

   ODD_FLOCK=0           locks are accepted and do nothing
   ODD_FLOCK=38          locks are refused, with this error number
   ODD_FSYNC_FOLDER=22   a folder cannot be synced; files can
   ODD_HOST=name         the name of this machine
*/
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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
