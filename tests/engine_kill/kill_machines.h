// The machines under load, and the limits they set.
#pragma once

#include <chrono>
#include <vector>

#include "store/store.h"

namespace pawl::kill {

inline constexpr int kShipMax = 3;       // orders that are shipped at the same time
inline constexpr int kMakePerMaker = 2;  // parts that one maker makes at the same time
inline constexpr int kMakeRate = 16;     // parts begun in a window of:
inline constexpr std::chrono::milliseconds kMakeWindow{100};

// An order waits for its parts, which are made by others, and is then shipped. Whatever happens to
// one exactly once leaves its mark in `seen`, `told`, `made` and `shipped_by`.
inline const std::vector<StoredMachine>& machines() {
  static const std::vector<StoredMachine> all{{"order", 1, R"(machine: order
initial: opened
data:
  parts: list
  count: {type: int, default: 0}
  seen: {type: string, default: ""}
  told: {type: string, default: ""}
  shipped_by: {type: string, default: ""}
on:
  add: {from: all, held: any, set: {count: "{data.count + 1}", seen: "{data.seen}{event.id};"}}
  told: {from: all, held: any, set: {told: "{data.told}{event.id};"}}
tasks:
  ship:
    queue: shippers
    timeout: 2s
    lease: 1s
    retry: 20ms
    errors: {busy: {later: 20ms}}
    concurrency: 3
    result: {by: string}
states:
  opened:
    on:
      begin:
        to: making
        effects: [{create: part, each: data.parts, key: "{record.key}.{item}", with: {maker: "{item}"}}]
  making:
    when: [{if: children.part.open == 0, to: shipping}]
  shipping:
    task: ship
    done:
      to: shipped
      set: {shipped_by: "{result.by}"}
      effects: [{notify: journal, with: {order: "{record.key}"}}]
  shipped: {final: true}
)"},
                                              {"part", 1, R"(machine: part
initial: making
data: {maker: string, made: {type: string, default: ""}}
tasks:
  make:
    queue: makers
    timeout: 2s
    lease: 1s
    retry: 20ms
    errors: {busy: {later: 20ms}}
    concurrency: {max: 2, per: "{data.maker}"}
    rate: {max: 16, every: 100ms}
    result: {by: string}
states:
  making:
    task: make
    done:
      to: made
      set: {made: "{result.by}"}
      effects: [{send: told, to: parent, with: {id: "{record.key}"}}]
  made: {final: true}
)"}};
  return all;
}

}  // namespace pawl::kill
