// The process that is killed: an engine on a store, for whoever connects.
//
// Asked in words, it answers in words; `failed` and why when the engine could not do its work:
//   create MACHINE KEY DATA                        → KIND REASON STATE REVISION
//   fire MACHINE KEY EVENT PAYLOAD ID              → the same; ID is the idempotency key
//   beat|done MACHINE KEY TOKEN JSON               → the same
//   fail MACHINE KEY TOKEN CODE                    → the same
//   release MACHINE KEY                            → the same
//   claim MAX MILLISECONDS WORKER QUEUE…           → ok (MACHINE KEY TOKEN FENCE PAYLOAD UNTIL)…
//   wait MACHINE KEY MILLISECONDS                  → ok STATE
//   open MACHINE, held                             → ok (MACHINE KEY)…
// Records with an attempt from before are not among `open` and `held`: what this process does
// itself has ended with the one before, and nobody knows it until its time is over.
#pragma once

#include <filesystem>
#include <string>

namespace pawl::kill {

// Serves until it is killed. A byte on standard output says that it can be connected to.
[[noreturn]] void serve(const std::filesystem::path& directory, const std::filesystem::path& socket,
                        const std::string& mutant);

// Files that it keeps beside the store.
std::filesystem::path store_in(const std::filesystem::path& directory);
std::filesystem::path journal_in(const std::filesystem::path& directory);

}  // namespace pawl::kill
