/* Names of requests: taken from the client when they are plain, else made here. */
#ifndef SERVER_IDENTITY_H
#define SERVER_IDENTITY_H

#define IDENTITY_SIZE 129

/* Writes the client's name (1 to 128 bytes of [A-Za-z0-9._-]) or, when it is another or NULL, a new one. */
void identity_set(char out[IDENTITY_SIZE], const char *sent);

#endif
