/*
 * xoff: sessions of a co-simulation. Written by cbindgen from crates/xoff-c/src; do not edit.
 *
 * A session is a scenario under way: the caller sends messages, lets simulated time pass, and hears what becomes of them.
 * Times are picoseconds since the beginning, sizes are bytes. Sessions share nothing; a session takes one call at a time,
 * and a second thread's call waits for the first to end.
 *
 * Every function that can fail returns an XOFF_ status; xoff_last_error() has the message. No function keeps a pointer
 * that it is given, and none of them unwinds or exits.
 */

#ifndef XOFF_H
#define XOFF_H

#include <stddef.h>
#include <stdint.h>

/*
 Done.
 */
#define XOFF_OK 0

/*
 An argument cannot be used: a null pointer where none may be, or a text that is not UTF-8.
 */
#define XOFF_ARGUMENT 1

/*
 The scenario or an option is wrong, or the network cannot be built.
 */
#define XOFF_SCENARIO 2

/*
 The call is refused, such as for a time in the past; nothing has changed.
 */
#define XOFF_REFUSED 3

/*
 The network cannot go on, such as after a loss in a lossless network; later calls say the same.
 */
#define XOFF_BROKEN 4

/*
 The session is not open, or was closed.
 */
#define XOFF_CLOSED 5

/*
 Results cannot be written.
 */
#define XOFF_IO 6

/*
 A defect of xoff; the session can only be freed.
 */
#define XOFF_PANIC 7

/*
 The default mapping: one connection from a host to another; under the transport `uet`, one for each message.
 */
#define XOFF_CONNECTION_DEFAULT 0

/*
 Each message has a connection to itself.
 */
#define XOFF_CONNECTION_PER_MESSAGE 1

/*
 One connection from a host to another; its congestion control keeps its state from one message to the next.
 */
#define XOFF_CONNECTION_PER_PAIR 2

/*
 One connection from a process to another.
 */
#define XOFF_CONNECTION_PER_PROCESS_PAIR 3

/*
 `connections` of them from a host to another; messages take them in turn.
 */
#define XOFF_CONNECTION_COUNT 4

/*
 No tag: the message is found by no receive.
 */
#define XOFF_NO_TAG 18446744073709551615ull

/*
 The current time.
 */
#define XOFF_NOW 18446744073709551615ull

/*
 No limit of time.
 */
#define XOFF_NO_LIMIT 18446744073709551615ull

/*
 The last ACK of a message is back at its sender.
 */
#define XOFF_EVENT_SENT 1

/*
 All of a message has arrived.
 */
#define XOFF_EVENT_DELIVERED 2

/*
 A receive has found its message.
 */
#define XOFF_EVENT_RECEIVED 3

/*
 A time that was scheduled has come.
 */
#define XOFF_EVENT_TIMER 4

/*
 A session. The caller gets it from `xoff_session_open()` or `xoff_session_open_text()`, owns it, and gives it back with
 `xoff_session_free()`.
 */
typedef struct XoffSession XoffSession;

/*
 How a session is opened; begin with `xoff_options()`.
 */
typedef struct XoffOptions {
  /*
   Settings on top of the scenario, each as "key=value", such as "scheme.name=hpcc"; NULL if there are none.
   */
  const char *const *sets;
  /*
   The number of settings.
   */
  size_t set_count;
  /*
   How messages share connections: an XOFF_CONNECTION_ constant.
   */
  uint32_t connection;
  /*
   The number of connections from a host to another, for XOFF_CONNECTION_COUNT.
   */
  uint32_t connections;
  /*
   Rate at which a host copies a message to itself, in bit/s; 0 if the copy takes no time.
   */
  uint64_t local_bps;
  /*
   Delay of a message of a host to itself, after the copy, in ps.
   */
  uint64_t local_delay_ps;
  /*
   Name of the session's messages in the results; NULL for "session".
   */
  const char *label;
} XoffOptions;

/*
 A message to be sent; begin with `xoff_message()`.
 */
typedef struct XoffMessage {
  /*
   Sending host.
   */
  uint32_t src;
  /*
   Receiving host.
   */
  uint32_t dst;
  /*
   Payload, at least 1 byte.
   */
  uint64_t bytes;
  /*
   Tag for receives, or XOFF_NO_TAG.
   */
  uint64_t tag;
  /*
   When it is handed to its connection, in ps, or XOFF_NOW.
   */
  uint64_t at_ps;
  /*
   Data priority.
   */
  uint32_t priority;
  /*
   Sending process, for XOFF_CONNECTION_PER_PROCESS_PAIR; otherwise 0.
   */
  uint32_t src_process;
  /*
   Receiving process; otherwise 0.
   */
  uint32_t dst_process;
} XoffMessage;

/*
 What has happened.
 */
typedef struct XoffEvent {
  /*
   When, in ps.
   */
  uint64_t at_ps;
  /*
   The message's number; 0 for a timer, as the fields from here to `start_ps`.
   */
  uint64_t message;
  /*
   Its payload.
   */
  uint64_t bytes;
  /*
   Its tag, or XOFF_NO_TAG.
   */
  uint64_t tag;
  /*
   When it was handed to its connection, in ps.
   */
  uint64_t start_ps;
  /*
   The receive's number for XOFF_EVENT_RECEIVED, the token for XOFF_EVENT_TIMER; otherwise 0.
   */
  uint64_t id;
  /*
   An XOFF_EVENT_ constant.
   */
  uint32_t kind;
  /*
   Sending host.
   */
  uint32_t src;
  /*
   Receiving host.
   */
  uint32_t dst;
} XoffEvent;

/*
 The counts of a session so far.
 */
typedef struct XoffStats {
  /*
   Messages sent.
   */
  uint64_t messages;
  /*
   Those of them that went from a host to itself.
   */
  uint64_t local_messages;
  /*
   Messages of which all has arrived.
   */
  uint64_t delivered;
  /*
   Messages whose last ACK is back.
   */
  uint64_t sent;
  /*
   Payload bytes of delivered messages.
   */
  uint64_t delivered_bytes;
  /*
   Sum of the completion times of sent messages, ps.
   */
  uint64_t fct_sum_ps;
  /*
   Maximum completion time of a sent message, ps.
   */
  uint64_t max_fct_ps;
  /*
   Messages that have arrived and wait for a receive.
   */
  uint64_t unexpected;
  /*
   Receives that wait for a message.
   */
  uint64_t posted;
  /*
   Events of the network.
   */
  uint64_t events;
  /*
   Packets that crossed a link, one for each link.
   */
  uint64_t packet_hops;
  /*
   Packets that were dropped.
   */
  uint64_t dropped_packets;
} XoffStats;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/*
 Copies the message of the session's last call that failed into `buffer`, as much as `capacity` has room for with a final NUL,
 and returns the message's whole length in bytes. NULL and 0 ask for the length alone. The message is empty if no call has
 failed, and of a session that is NULL.

 # Safety
 `session` is NULL or a handle that was not freed; `buffer` is NULL or has room for `capacity` bytes.
 */
size_t xoff_last_error(const struct XoffSession *session, char *buffer, size_t capacity);

/*
 Frees a session, closed or not, with its events; NULL is fine. Results that were not written are lost.

 # Safety
 `session` is NULL or a handle that was not freed, and no other thread uses it.
 */
void xoff_session_free(struct XoffSession *session);

/*
 The version of xoff, as text that is never freed.
 */
const char *xoff_version(void);

/*
 Options with every default.
 */
struct XoffOptions xoff_options(void);

/*
 Opens a session of the scenario file at `path`, which needs no `[[traffic]]`; traffic that it has is background. `options` may
 be NULL for the defaults. `*session` is a handle in any case, unless `session` is NULL: after an error `xoff_last_error()` takes
 it, and `xoff_session_free()`.

 # Safety
 `path` is NULL or a text, `options` is NULL or points to options whose pointers are NULL or valid, `session` is NULL or points
 to a pointer.
 */
int32_t xoff_session_open(const char *path, const struct XoffOptions *options, struct XoffSession **session);

/*
 Opens a session of a scenario that is given as text; as `xoff_session_open()`. Files that the scenario names are taken from
 `folder`; NULL for the current folder.

 # Safety
 As for `xoff_session_open()`.
 */
int32_t xoff_session_open_text(const char *scenario,
                               const char *folder,
                               const struct XoffOptions *options,
                               struct XoffSession **session);

/*
 Writes the time that the session has reached, in ps.

 # Safety
 `session` is NULL or a handle that was not freed, `ps` is NULL or points to a number.
 */
int32_t xoff_session_now(const struct XoffSession *session, uint64_t *ps);

/*
 Writes the number of hosts.

 # Safety
 `session` is NULL or a handle that was not freed, `count` is NULL or points to a number.
 */
int32_t xoff_session_hosts(const struct XoffSession *session, uint32_t *count);

/*
 Writes the number of the host with a name.

 # Safety
 `session` is NULL or a handle that was not freed, `name` is NULL or a text, `host` is NULL or points to a number.
 */
int32_t xoff_session_host(const struct XoffSession *session, const char *name, uint32_t *host);

/*
 Writes the rate of all of a host's links together, in bit/s.

 # Safety
 `session` is NULL or a handle that was not freed, `bps` is NULL or points to a number.
 */
int32_t xoff_session_host_bps(const struct XoffSession *session, uint32_t host, uint64_t *bps);

/*
 A message that is sent now, without a tag.
 */
struct XoffMessage xoff_message(uint32_t src, uint32_t dst, uint64_t bytes);

/*
 Sends a message and writes its number, which for a message over the network is its `id` in the table of flows. `message` may be
 NULL if the number does not matter.

 # Safety
 `session` is NULL or a handle that was not freed, `what` is NULL or points to a message, `message` is NULL or points to a number.
 */
int32_t xoff_session_send(struct XoffSession *session, const struct XoffMessage *what, uint64_t *message);

/*
 Posts a receive for the first message from `src` to `dst` with `tag` that no earlier receive has taken, in the order of arrival,
 before or after that arrival. Writes the receive's number unless `receive` is NULL.

 # Safety
 `session` is NULL or a handle that was not freed, `receive` is NULL or points to a number.
 */
int32_t xoff_session_recv(struct XoffSession *session, uint32_t src, uint32_t dst, uint64_t tag, uint64_t *receive);

/*
 Asks for an event with `token` at a time. At one time, timers come in the order of these calls, ahead of the network's events.

 # Safety
 `session` is NULL or a handle that was not freed.
 */
int32_t xoff_session_schedule(struct XoffSession *session, uint64_t at_ps, uint64_t token);

/*
 Lets time pass up to `time_ps`, which is included, and writes all events until then, in the order in which they happened. The
 events belong to the session, and stay until its next advance or its end; `*events` is NULL if there are none.

 # Safety
 `session` is NULL or a handle that was not freed, `events` and `count` are NULL or point to a pointer and a number. No other
 thread advances the session while the events are read.
 */
int32_t xoff_session_advance_until(struct XoffSession *session, uint64_t time_ps, const struct XoffEvent **events, size_t *count);

/*
 Lets time pass to the next event, but not beyond `limit_ps`, which may be XOFF_NO_LIMIT, and writes what happens then: more than
 one event if one makes others. No events mean that nothing happens up to the limit or, without one, that nothing is left which
 could happen. The events belong to the session, as those of `xoff_session_advance_until()`.

 # Safety
 As for `xoff_session_advance_until()`.
 */
int32_t xoff_session_advance_to_next(struct XoffSession *session,
                                     uint64_t limit_ps,
                                     const struct XoffEvent **events,
                                     size_t *count);

/*
 Writes the counts so far.

 # Safety
 `session` is NULL or a handle that was not freed, `stats` is NULL or points to counts.
 */
int32_t xoff_session_stats(const struct XoffSession *session, struct XoffStats *stats);

/*
 Closes the session: writes its result tables (Parquet) and its manifest into `folder`, as `xoff run -o` does; NULL if they are
 not wanted. The handle then has the manifest, until it is freed. After XOFF_IO it has the results too, for another folder.

 # Safety
 `session` is NULL or a handle that was not freed, `folder` is NULL or a text.
 */
int32_t xoff_session_close(struct XoffSession *session, const char *folder);

/*
 Copies the manifest of a session that was closed, as JSON, into `buffer`, as much as `capacity` has room for with a final NUL, and
 writes the whole length in bytes. NULL and 0 ask for the length alone.

 # Safety
 `session` is NULL or a handle that was not freed, `buffer` is NULL or has room for `capacity` bytes, `length` is NULL or points to
 a number.
 */
int32_t xoff_session_manifest(const struct XoffSession *session,
                              char *buffer,
                              size_t capacity,
                              size_t *length);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* XOFF_H */
