// GatheredLog: a VFS over another one, which writes the write-ahead log in few large pieces.
//
// SQLite writes each page of a commit with two calls, one for its header and one for itself; these
// calls were a fifth of all CPU time with sixteen callers. Here what follows on each other is kept
// until 64 KiB have gathered or something else is asked of the file, at the latest its sync. With
// synchronous=FULL every commit is synced before anybody sees or is told of it, so nobody reads
// what is still kept here; and what was not synced may be lost anyway. An error comes with the call
// that writes what was kept.
#pragma once

#include <sqlite3.h>

#include <memory>
#include <string>

namespace pawl::sqlite {

class GatheredLog {
 public:
  // Over the VFS of that name; empty: SQLite's own. That one, and this one, outlive the connections
  // that are opened with it.
  explicit GatheredLog(const std::string& over);
  ~GatheredLog();
  GatheredLog(const GatheredLog&) = delete;
  GatheredLog& operator=(const GatheredLog&) = delete;

  const std::string& name() const { return name_; }

 private:
  struct Vfs;

  std::string name_;
  std::unique_ptr<Vfs> vfs_;
};

}  // namespace pawl::sqlite
