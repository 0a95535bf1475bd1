#include "transport/protocol/core_costs.h"

namespace parley::transport {

namespace {
// Of what one path takes, a share of what the other one does: above it both are as good as each other.
constexpr float worth_a_change = 0.9F;
}  // namespace

bool CoreCosts::note(std::size_t of_class, const CopyNews& news, bool by_link_alone, Path path) noexcept {
  Class& of = classes_[of_class];
  const bool has_pulled = take(of.pulled, news.pulled);
  const bool has_sent = by_link_alone && take(of.onto_link, news.onto_link);
  const bool has_landed = by_link_alone && take(of.off_link, news.off_link);
  const float pull = ns_per_byte(of_class, Path::pull);
  const float link = ns_per_byte(of_class, Path::link);
  // The first copies by the link touch memory that the later ones find.
  const bool is_sure =
      of.onto_link.counted == CopyRate::few_samples && of.off_link.counted == CopyRate::few_samples;
  if (pull != 0 && link != 0 && (of.cheaper || is_sure)) {
    if (!of.cheaper) of.cheaper = link < pull ? Path::link : Path::pull;
    const float usual = *of.cheaper == Path::pull ? pull : link;
    const float others = *of.cheaper == Path::pull ? link : pull;
    if (others < worth_a_change * usual) of.cheaper = other(*of.cheaper);
  }
  return path == Path::pull ? has_pulled : has_sent && has_landed;
}

Path CoreCosts::cheaper(std::size_t of_class) const noexcept {
  for (std::size_t i = of_class + 1; i-- != 0;)
    if (classes_[i].cheaper) return *classes_[i].cheaper;
  return Path::link;
}

float CoreCosts::ns_per_byte(std::size_t of_class, Path path) const noexcept {
  const Class& of = classes_[of_class];
  if (path == Path::pull) return of.pulled.ns_per_byte;
  const bool is_known = of.onto_link.ns_per_byte != 0 && of.off_link.ns_per_byte != 0;
  return is_known ? of.onto_link.ns_per_byte + of.off_link.ns_per_byte : 0;
}

bool CoreCosts::take(CopyRate& rate, const base::CopyWork& news) noexcept {
  return news.bytes != 0 && rate.take(news.ns / static_cast<float>(news.bytes));
}

}  // namespace parley::transport
