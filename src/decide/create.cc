#include "base/text.h"
#include "decide/data.h"
#include "decide/turn.h"

namespace pawl {

void Turn::on(const Stimulus::Create& create) {
  if (before_.id.value != 0) {
    answer(Answer::Kind::duplicate, "a record with this key already exists");
    out_.answer.state = before_.state;
    out_.answer.revision = before_.revision;
    out_.answer.result = before_.result;
    return;
  }
  if (!create_record(create) || create.event.empty()) return;
  fire(create.event, create.payload, stimulus_.actor);
}

// False when it was not created, and the answer says why.
bool Turn::create_record(const Stimulus::Create& create) {
  PAWL_ASSERT(create.id.value != 0, "the engine gives a new record its id");
  auto data = data_of_new(create);
  if (!data) return false;
  record_.id = create.id;
  record_.machine = machine_->name();
  record_.version = machine_->version();
  record_.key = stimulus_.key;
  record_.created_at = now_;
  record_.parent = create.parent;
  open({Entry::Kind::created});
  touch(kCoreAll);
  change_data(*std::move(data));
  zone_ = zone_in_force(machine_->definition().schedule, sight(), machine_->zones(), scratch_);
  enter(machine_->definition().initial.id, By::done);
  if (create.ready_at && record_.task_at) record_.task_at = *create.ready_at;
  close();
  follow_when();
  return true;
}

// With its defaults; none when it does not fit, and the answer says why.
std::optional<std::string> Turn::data_of_new(const Stimulus::Create& create) {
  const auto& fields = machine_->definition().data;
  std::string data = create.data;
  if (fields) {
    auto complete = completed(create.data, *fields, Others::refused, machine_->zones());
    if (!complete) {
      answer(Answer::Kind::error, "`data`: " + complete.error().message);
      return std::nullopt;
    }
    data = *std::move(complete);
  } else if (JsonView(data).kind() != JsonView::Kind::map) {
    answer(Answer::Kind::error, "`data`: expected a map of fields");
    return std::nullopt;
  }
  if (data.size() > kDataMax) {
    answer(Answer::Kind::error, "`data` is " + std::to_string(data.size()) +
                                    " bytes; the limit is " + std::to_string(kDataMax));
    return std::nullopt;
  }
  return data;
}

}  // namespace pawl
