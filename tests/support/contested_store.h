// ContestedStore: a store that another node uses too.
//
// One process owns a SQLite store, so that on it no unit ever loses a race. Where many nodes share
// a database they do: here a rival's unit gets in first, in the transaction that commits the
// batch. What the rival does is decided by the same rules, so the store stays right.
#pragma once

#include <memory>
#include <optional>

#include "store/store.h"

namespace pawl {

class Rival {
 public:
  virtual ~Rival() = default;

  // What another node commits just before these units; none: it is idle.
  virtual std::optional<Unit> before(Batch& batch, std::span<const Unit> units) = 0;
  // That was carried out.
  virtual void committed(const Unit& unit) = 0;
  // Why beats cannot be written; none: they can.
  virtual std::optional<Error> keeps_from_beating() { return std::nullopt; }
  // Why old answers cannot be forgotten.
  virtual std::optional<Error> keeps_from_forgetting() { return std::nullopt; }
};

// Both outlive it.
std::unique_ptr<Store> contested(Store& store, Rival& rival);

}  // namespace pawl
