#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <string>

#include "api/launch/line_pump.h"
#include "api/launch/output_queue.h"
#include "api/launch/pipe.h"

namespace parley::launch {
namespace {

using base::Deadline;

constexpr std::chrono::milliseconds at_once{0};

// One round of what the supervisor does with a queue.
void serve_once(OutputQueue& queue) {
  PollSet set;
  queue.watch(set);
  set.wait(Deadline::after(at_once));
  queue.serve(set);
}

std::string read_available(int fd) {
  std::array<char, 65536> buffer{};
  const ssize_t got = read(fd, buffer.data(), buffer.size());
  return got > 0 ? std::string(buffer.data(), static_cast<std::size_t>(got)) : std::string();
}

TEST(OutputQueue, WritesInOrder) {
  Pipe pipe = make_pipe();
  OutputQueue queue(pipe.write.get());
  queue.pending() += "one\n";
  queue.pending() += "two\n";
  EXPECT_FALSE(queue.settled());
  serve_once(queue);
  EXPECT_TRUE(queue.settled());
  EXPECT_EQ(read_available(pipe.read.get()), "one\ntwo\n");
}

TEST(OutputQueue, NeverBlocksOnAReaderThatDoesNotRead) {
  Pipe pipe = make_pipe();
  OutputQueue queue(pipe.write.get());
  const std::string text(2 * OutputQueue::full_bytes, 'x');
  queue.pending() += text;
  EXPECT_TRUE(queue.full());
  for (int i = 0; i < 1000; ++i) serve_once(queue);  // would hang here
  EXPECT_FALSE(queue.settled());

  std::string got;
  while (!queue.settled() || got.size() < text.size()) {
    serve_once(queue);
    got += read_available(pipe.read.get());
  }
  EXPECT_EQ(got, text);
}

TEST(OutputQueue, BreaksWithoutASignalWhenTheReaderIsGone) {
  Pipe pipe = make_pipe();
  OutputQueue queue(pipe.write.get());
  pipe.read.reset();
  queue.pending() += "nobody hears this\n";
  serve_once(queue);  // SIGPIPE would end the test
  EXPECT_TRUE(queue.broken());
  EXPECT_TRUE(queue.settled());
}

TEST(OutputQueue, SwallowsEverythingWhenTheDescriptorIsNotOpen) {
  Pipe pipe = make_pipe();
  const int closed = pipe.write.get();
  pipe.write.reset();
  OutputQueue queue(closed);
  queue.pending() += "x\n";
  serve_once(queue);
  EXPECT_TRUE(queue.settled());
  EXPECT_FALSE(queue.broken());
}

TEST(SameFile, KnowsDuplicatesFromDifferentPipes) {
  Pipe a = make_pipe();
  Pipe b = make_pipe();
  const base::UniqueFd copy(dup(a.write.get()));
  EXPECT_TRUE(same_file(a.write.get(), copy.get()));
  EXPECT_FALSE(same_file(a.write.get(), b.write.get()));
  EXPECT_FALSE(same_file(-1, a.write.get()));
}

TEST(LinePump, StopsReadingWhileTheQueueIsFull) {
  Pipe source = make_pipe();
  Pipe sink = make_pipe();
  OutputQueue queue(sink.write.get());
  queue.pending() += std::string(OutputQueue::full_bytes, 'x');
  ASSERT_EQ(write_quietly(source.write.get(), "line\n"), 5);
  LinePump pump(std::move(source.read), "[0] ", queue, {});
  PollSet set;
  pump.watch(set);
  pump.serve(set);
  EXPECT_FALSE(queue.pending().ends_with("line\n"));

  queue.pending().clear();
  pump.watch(set);
  set.wait(Deadline::after(at_once));
  pump.serve(set);
  EXPECT_EQ(queue.pending(), "[0] line\n");
}

TEST(LinePump, LetsTheRankSeeThatNobodyReads) {
  Pipe source = make_pipe();
  Pipe sink = make_pipe();
  OutputQueue queue(sink.write.get());
  LinePump pump(std::move(source.read), "", queue, {});
  sink.read.reset();
  queue.pending() += "x";
  serve_once(queue);
  PollSet set;
  pump.watch(set);
  EXPECT_EQ(write_quietly(source.write.get(), "y"), -1);
  EXPECT_EQ(errno, EPIPE);
}

TEST(LinePump, DrainTakesAnUnfinishedLine) {
  Pipe source = make_pipe();
  Pipe sink = make_pipe();
  OutputQueue queue(sink.write.get());
  ASSERT_EQ(write_quietly(source.write.get(), "a\nb"), 3);
  source.write.reset();
  LinePump pump(std::move(source.read), "[5] ", queue, {});
  pump.drain();
  EXPECT_EQ(queue.pending(), "[5] a\n[5] b\n");
  EXPECT_EQ(pump.last_lines(1), "b");
}

TEST(LastLines, AreTheLastOnes) {
  EXPECT_EQ(last_lines_of("a\nb\nc\n", 2, 10), "b\nc");
  EXPECT_EQ(last_lines_of("a\nb", 5, 10), "a\nb");
  EXPECT_EQ(last_lines_of("", 5, 10), "");
  EXPECT_EQ(last_lines_of("\n", 5, 10), "");
  EXPECT_EQ(last_lines_of("0123456789abc\n", 5, 10), "0123456789");
  EXPECT_EQ(last_lines_of("a\n\nb\n", 3, 10), "a\n\nb");
}

}  // namespace
}  // namespace parley::launch
