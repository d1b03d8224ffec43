/* Uses every function of the interface once, and prints "all is well" if each did what it says. */

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "xoff.h"

static const char *const STAR =
    "topology = { name = \"star\", hosts = 3, rate = \"100Gbps\", delay = \"1us\" }\n"
    "scheme = { name = \"none\" }\n"
    "packets = { mtu = \"1000B\", header = \"48B\", ack = \"50B\", gap = \"0B\" }\n";

/* One packet of 952 B: twice 80 ns on a wire, and two links of 1 us; its ACK: twice 4 ns, and the links again. */
#define THERE 2160000u
#define BACK (THERE + 2008000u)

static void expect(int holds, int line, const char *what) {
    if (!holds) {
        fprintf(stderr, "line %d: %s\n", line, what);
        exit(1);
    }
}
#define EXPECT(what) expect((what) != 0, __LINE__, #what)

static XoffSession *open_star(const XoffOptions *options) {
    XoffSession *session = NULL;
    int32_t status = xoff_session_open_text(STAR, NULL, options, &session);
    if (status != XOFF_OK) {
        char text[500];
        xoff_last_error(session, text, sizeof text);
        fprintf(stderr, "%s\n", text);
        exit(1);
    }
    return session;
}

static int says(const XoffSession *session, const char *part) {
    size_t length = xoff_last_error(session, NULL, 0);
    char *text = malloc(length + 1);
    EXPECT(text != NULL);
    EXPECT(xoff_last_error(session, text, length + 1) == length && strlen(text) == length);
    int found = strstr(text, part) != NULL;
    if (!found) {
        fprintf(stderr, "%s\n", text);
    }
    free(text);
    return found;
}

static void events(void) {
    XoffSession *session = open_star(NULL);
    uint32_t hosts = 0, a = 9, b = 9;
    uint64_t bps = 0, number = 0, receive = 9, now = 1;
    EXPECT(xoff_session_hosts(session, &hosts) == XOFF_OK && hosts == 3);
    EXPECT(xoff_session_host(session, "host0", &a) == XOFF_OK && a == 0);
    EXPECT(xoff_session_host(session, "host1", &b) == XOFF_OK && b == 1);
    EXPECT(xoff_session_host_bps(session, a, &bps) == XOFF_OK && bps == 100000000000u);
    EXPECT(xoff_session_now(session, &now) == XOFF_OK && now == 0);

    XoffMessage message = xoff_message(a, b, 952);
    message.tag = 5;
    EXPECT(xoff_session_send(session, &message, &number) == XOFF_OK && number == 0);
    EXPECT(xoff_session_recv(session, a, b, 5, &receive) == XOFF_OK && receive == 0);
    EXPECT(xoff_session_schedule(session, 3000000, 42) == XOFF_OK);

    const XoffEvent *found = NULL;
    size_t count = 0;
    EXPECT(xoff_session_advance_to_next(session, XOFF_NO_LIMIT, &found, &count) == XOFF_OK && count == 2);
    EXPECT(found[0].kind == XOFF_EVENT_DELIVERED && found[0].at_ps == THERE && found[0].bytes == 952);
    EXPECT(found[1].kind == XOFF_EVENT_RECEIVED && found[1].id == receive && found[1].tag == 5);
    EXPECT(found[1].src == a && found[1].dst == b && found[1].message == 0 && found[1].start_ps == 0);
    EXPECT(xoff_session_advance_until(session, 10000000, &found, &count) == XOFF_OK && count == 2);
    EXPECT(found[0].kind == XOFF_EVENT_TIMER && found[0].at_ps == 3000000 && found[0].id == 42);
    EXPECT(found[1].kind == XOFF_EVENT_SENT && found[1].at_ps == BACK);
    EXPECT(xoff_session_advance_to_next(session, XOFF_NO_LIMIT, &found, &count) == XOFF_OK);
    EXPECT(count == 0 && found == NULL);
    EXPECT(xoff_session_now(session, &now) == XOFF_OK && now == 10000000);

    XoffStats stats;
    EXPECT(xoff_session_stats(session, &stats) == XOFF_OK);
    EXPECT(stats.messages == 1 && stats.sent == 1 && stats.max_fct_ps == BACK && stats.packet_hops == 4);

    size_t length = 0;
    EXPECT(xoff_session_manifest(session, NULL, 0, &length) == XOFF_CLOSED);
    EXPECT(xoff_session_close(session, NULL) == XOFF_OK);
    EXPECT(xoff_session_manifest(session, NULL, 0, &length) == XOFF_OK && length > 1000);
    char begin[8];
    EXPECT(xoff_session_manifest(session, begin, sizeof begin, &length) == XOFF_OK && strlen(begin) == 7);
    EXPECT(begin[0] == '{');
    EXPECT(xoff_session_send(session, &message, NULL) == XOFF_CLOSED && says(session, "not open"));
    xoff_session_free(session);
}

static void mistakes(void) {
    XoffSession *session = NULL;
    EXPECT(xoff_session_open("no/such/file.toml", NULL, &session) == XOFF_SCENARIO);
    EXPECT(says(session, "no/such/file.toml"));
    xoff_session_free(session);
    EXPECT(xoff_session_open(NULL, NULL, &session) == XOFF_ARGUMENT && says(session, "`path` is NULL"));
    xoff_session_free(session);
    EXPECT(xoff_session_open_text(STAR, NULL, NULL, NULL) == XOFF_ARGUMENT);
    EXPECT(xoff_session_open_text("topology = 3", NULL, NULL, &session) == XOFF_SCENARIO && says(session, "topology"));
    EXPECT(xoff_session_now(session, NULL) != XOFF_OK);
    xoff_session_free(session);
    EXPECT(xoff_session_open_text("\xff", NULL, NULL, &session) == XOFF_ARGUMENT && says(session, "UTF-8"));
    xoff_session_free(session);

    const char *sets[] = {"scheme.name=hpc"};
    XoffOptions options = xoff_options();
    options.sets = sets;
    options.set_count = 1;
    EXPECT(xoff_session_open_text(STAR, NULL, &options, &session) == XOFF_SCENARIO && says(session, "hpcc"));
    xoff_session_free(session);
    options = xoff_options();
    options.connection = 9;
    EXPECT(xoff_session_open_text(STAR, NULL, &options, &session) == XOFF_SCENARIO && says(session, "0 to 4"));
    xoff_session_free(session);
    options.connection = XOFF_CONNECTION_COUNT;
    EXPECT(xoff_session_open_text(STAR, NULL, &options, &session) == XOFF_SCENARIO && says(session, "from 1"));
    xoff_session_free(session);

    session = open_star(NULL);
    XoffMessage message = xoff_message(0, 7, 8);
    EXPECT(xoff_session_send(session, &message, NULL) == XOFF_REFUSED && says(session, "`dst` is host 7"));
    message = xoff_message(0, 1, 0);
    EXPECT(xoff_session_send(session, &message, NULL) == XOFF_REFUSED && says(session, "the message has 0 B"));
    EXPECT(xoff_session_send(session, NULL, NULL) == XOFF_ARGUMENT && says(session, "`what` is NULL"));
    EXPECT(xoff_session_recv(session, 0, 1, XOFF_NO_TAG, NULL) == XOFF_REFUSED && says(session, "XOFF_NO_TAG"));
    uint32_t host = 0;
    EXPECT(xoff_session_host(session, "hots2", &host) == XOFF_REFUSED && says(session, "did you mean `host2`"));
    const XoffEvent *found = NULL;
    EXPECT(xoff_session_advance_until(session, 5, &found, NULL) == XOFF_ARGUMENT);
    EXPECT(xoff_session_advance_until(session, 4, NULL, NULL) == XOFF_REFUSED && says(session, "has reached 5ps"));
    xoff_session_free(session);
    xoff_session_free(NULL);
    EXPECT(xoff_session_schedule(NULL, 1, 1) == XOFF_ARGUMENT && xoff_last_error(NULL, NULL, 0) == 0);
}

/* A session for each thread, whose messages do not meet. */
static void *alone(void *argument) {
    uint64_t *end = argument;
    XoffOptions options = xoff_options();
    options.connection = XOFF_CONNECTION_COUNT;
    options.connections = 2;
    options.local_bps = 8000000000u;
    options.local_delay_ps = 1;
    options.label = "mine";
    XoffSession *session = open_star(&options);
    for (uint32_t host = 0; host < 3; host++) {
        XoffMessage message = xoff_message(host, (host + 1) % 3, 9520);
        EXPECT(xoff_session_send(session, &message, NULL) == XOFF_OK);
        message = xoff_message(host, host, 1000);
        EXPECT(xoff_session_send(session, &message, NULL) == XOFF_OK);
    }
    const XoffEvent *found = NULL;
    size_t count = 0;
    do {
        EXPECT(xoff_session_advance_to_next(session, XOFF_NO_LIMIT, &found, &count) == XOFF_OK);
        for (size_t i = 0; i < count; i++) {
            *end = *end * 31 + found[i].at_ps + found[i].message;
        }
    } while (count > 0);
    xoff_session_free(session);
    return NULL;
}

int main(void) {
    printf("xoff %s\n", xoff_version());
    events();
    mistakes();
    pthread_t threads[4];
    uint64_t ends[4] = {0, 0, 0, 0};
    for (int i = 0; i < 4; i++) {
        EXPECT(pthread_create(&threads[i], NULL, alone, &ends[i]) == 0);
    }
    for (int i = 0; i < 4; i++) {
        EXPECT(pthread_join(threads[i], NULL) == 0);
    }
    EXPECT(ends[0] != 0 && ends[1] == ends[0] && ends[2] == ends[0] && ends[3] == ends[0]);
    printf("all is well\n");
    return 0;
}
