// Disk: files in memory, of which a power cut keeps what was synced and some of the rest.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace pawl {

// How a process ends, and what becomes of the changes it has not synced.
enum class Cut {
  kill,        // the machine goes on: they stay as they are, unsynced
  nothing,     // none of them is kept
  everything,  // all are
  prefix,      // those up to a point in time
  reordered,   // some of them, in another order
  torn_512,    // pieces of each: 512 bytes that were on their way are kept or not. A file may have
  torn_4096,   // grown by a piece that was not kept: it then holds zeros or rubbish
};
inline constexpr std::array kCuts{Cut::kill,      Cut::nothing,  Cut::everything, Cut::prefix,
                                  Cut::reordered, Cut::torn_512, Cut::torn_4096};
std::string_view to_text(Cut cut);

class Disk {
 public:
  using File = std::uint64_t;  // keeps its content while it is open, whatever becomes of its name

  // 0: there is none.
  File find(const std::string& path) const;
  File create(const std::string& path);
  File create_nameless();
  void create_directory(const std::string& path);
  void remove(const std::string& path);  // with all that is in it
  void rename(const std::string& from, const std::string& to);
  // What was made, removed or renamed in a directory. Its own name is not in it.
  void sync_names(const std::string& directory);

  const std::string& bytes(File file) const { return contents_.at(file).seen; }
  void write(File file, std::size_t at, std::string_view bytes);
  void truncate(File file, std::size_t size);
  void sync(File file);
  // A sync that failed: what was written is still read, but nothing will make it durable.
  void lose_unsynced(File file) { contents_.at(file).unsynced.clear(); }

  std::size_t bytes_used() const;
  // What the names stand for, to see whether something was touched.
  std::map<std::string, std::string> seen() const;
  std::vector<std::string> directories() const;
  // As if it had always been so; a directory for it too.
  void put(const std::string& path, const std::string& bytes);

  // What the next start finds.
  Disk after(Cut cut, std::mt19937_64& random) const;

 private:
  struct Change {
    std::int64_t order = 0;  // among all changes of the disk
    bool truncates = false;
    std::size_t at = 0;  // the size that it truncates to
    std::string bytes = {};
  };
  struct Content {
    std::string seen = {};
    std::string durable = {};
    std::vector<Change> unsynced = {};
  };
  // Of a file or a directory. Where no directory was made, it is the whole path.
  struct Name {
    File directory = 0;
    std::string text = {};

    auto operator<=>(const Name&) const = default;
  };
  struct Naming {
    std::int64_t order = 0;
    Name name = {};
    File file = 0;                    // 0: it is removed
    std::optional<Name> before = {};  // it was renamed
  };
  using Names = std::map<Name, File>;

  static void apply(const Change& change, std::string& bytes);
  static void apply(const Naming& naming, Names& names);
  static std::string torn(const Content& content, std::size_t piece, std::mt19937_64& random);
  std::int64_t random_end(std::mt19937_64& random) const;

  Name name_of(const std::string& path) const;
  void name(const Naming& naming);
  // By their paths, directories before what is in them.
  std::map<std::string, File> paths(const Names& names) const;
  bool is_directory(File file) const { return directories_.contains(file); }
  void put_directory(const std::string& path);

  std::map<File, Content> contents_;
  std::set<File> directories_;
  Names names_;
  Names durable_names_;
  std::vector<Naming> unsynced_names_;
  File last_file_ = 0;
  std::int64_t last_order_ = 0;
};

}  // namespace pawl
