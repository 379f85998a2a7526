#include "sim_machines.h"

namespace pawl::sim {
namespace {

// A task with lease, deadline, retries, a keyed delivery, `later` and a way to give up at once.
constexpr const char* kJob = R"(machine: job
initial: working
data: {seen: {type: string, default: ""}, size: any}
on:
  poke: {from: all, held: any, set: {seen: "{data.seen}{event.id};"}}
tasks:
  work:
    queue: jobs
    timeout: 10m
    lease: 1m
    retry: [10s, 1m]
    result: {n: int, text: any}
    errors:
      flaky: {retry: true, effects: [{notify: once, key: first_flaky}]}
      busy: {later: 30s}
      fatal: give_up
states:
  working:
    task: work
    done: {to: finished, set: {size: "{result.text}"}}
    on: {cancel: cancelled}
  finished: {final: true, on: {again: {to: working, new_epoch: true}}}
  cancelled: {final: true}
)";

// Children, counted, and a row that waits for them; two of them are packed at a time.
constexpr const char* kBatch = R"(machine: batch
initial: collecting
data: {seen: {type: string, default: ""}, parcels: list}
on:
  poke: {from: all, held: any, set: {seen: "{data.seen}{event.id};"}}
  told: {from: all, set: {seen: "{data.seen}{event.id};"}}
states:
  collecting:
    on:
      begin: {to: waiting, effects: [{create: parcel, each: data.parcels, key: "{record.key}.{item}"}]}
  waiting:
    when: [{if: children.parcel.open == 0, to: complete}]
    on:
      stop: {set: {seen: "{data.seen}{event.id};"}, effects: [{send: cancel, to: children.parcel}]}
  complete: {final: true}
)";

constexpr const char* kParcel = R"(machine: parcel
initial: packing
data: {seen: {type: string, default: ""}}
on:
  poke: {from: all, held: any, set: {seen: "{data.seen}{event.id};"}}
tasks:
  pack: {queue: packers, lease: 2m, priority: 2, concurrency: 2}
states:
  packing:
    task: pack
    done: {to: packed, effects: [{send: told, to: parent, with: {id: "{record.key}"}}]}
    on:
      cancel: cancelled
      lose: {hold: "nobody knows where it is"}
  packed: {final: true}
  cancelled: {final: true}
)";

// Messages to another record: plain, delayed, to be accepted; and deliveries.
constexpr const char* kTeller = R"(machine: teller
initial: telling
data: {seen: {type: string, default: ""}}
on:
  poke: {from: all, held: any, set: {seen: "{data.seen}{event.id};"}}
states:
  telling:
    on:
      tell:
        set: {seen: "{data.seen}{event.id};"}
        effects:
          - {send: add, to: {machine: list, key: "{event.to}"}, with: {id: "{event.id}"}}
          - {notify: told, with: {id: "{event.id}"}}
      tell_must:
        set: {seen: "{data.seen}{event.id};"}
        effects: [{send: add, to: {machine: list, key: "{event.to}"}, with: {id: "{event.id}"}, must: true}]
      tell_late:
        set: {seen: "{data.seen}{event.id};"}
        effects: [{send: add, to: {machine: list, key: "{event.to}"}, with: {id: "{event.id}"}, in: 10m}]
)";

constexpr const char* kList = R"(machine: list
initial: growing
data: {seen: {type: string, default: ""}, days: {type: int, default: 0}}
on:
  poke: {from: all, held: any, set: {seen: "{data.seen}{event.id};"}}
  add: {from: all, set: {seen: "{data.seen}{event.id};"}}
states:
  growing:
    on: {rest: resting}
    every: {12h: {set: {days: "{data.days + 1}"}}}
  resting:
    after: {2h: growing}
)";

// A task on the side, with both ways back.
constexpr const char* kPage = R"(machine: page
initial: shown
data: {seen: {type: string, default: ""}, outcome: {type: string, default: ""}}
on:
  poke: {from: all, held: any, set: {seen: "{data.seen}{event.id};"}}
tasks:
  render: {queue: renderers, timeout: 1m, retry: [5s], errors: {fatal: give_up}}
states:
  shown:
    effects: [{run: render, then: rendered, else: broken}]
    on:
      rendered: {to: over, set: {outcome: "{data.outcome}rendered;"}}
      broken: {to: spoilt, set: {outcome: "{data.outcome}broken;"}}
  spoilt: {final: true}
  over: {final: true}
)";

// A schedule in a zone with summer time, a state while the attempt runs, and a visible failure.
constexpr const char* kMeter = R"(machine: meter
initial: idle
data: {seen: {type: string, default: ""}}
schedule: {rrule: "FREQ=DAILY;BYHOUR=2,14;BYMINUTE=30", tz: Europe/Berlin}
failure: broken
give_up: {to: idle}
on:
  poke: {from: all, held: any, set: {seen: "{data.seen}{event.id};"}}
tasks:
  read: {queue: jobs, timeout: 30m, retry: [1m], align: retry, priority: 0}
states:
  idle: {planned: reading, on: {read_now: reading, stop: stopped}}
  reading: {task: read, started: measuring, done: idle}
  measuring: {}
  broken: {}
  stopped: {final: true}
)";

}  // namespace

const std::vector<StoredMachine>& machines() {
  static const std::vector<StoredMachine> all{
      {"job", 1, kJob},   {"batch", 1, kBatch}, {"parcel", 1, kParcel}, {"teller", 1, kTeller},
      {"list", 1, kList}, {"page", 1, kPage},   {"meter", 1, kMeter}};
  return all;
}

}  // namespace pawl::sim
