// Keys, and who may come in by them.
#define BOOST_TEST_MODULE transport_security

#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "node/security/key_list.h"
#include "node/security/zap.h"
#include "tests/net/transport_fixture.h"
#include "tests/support/folder.h"

namespace convoy {
namespace {

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

KeyPair new_keys() {
  Result<KeyPair> keys = generate_keys();
  BOOST_REQUIRE(keys.ok());
  return *keys;
}

// An encrypted listener that knows one friend.
struct Guarded {
  KeyPair server = new_keys();
  KeyPair friendly = new_keys();
  KeyPair stranger = new_keys();
  RecordingSink at_listener;
  std::unique_ptr<Transport> listener = must_start(options(), at_listener);

  TransportOptions options() const {
    TransportOptions o = listening(kMasterPeer);
    o.keys = server;
    o.encrypt_bind = true;
    o.allowed_keys = {friendly.public_key};
    return o;
  }
  static TransportOptions as(const std::optional<KeyPair>& keys) {
    TransportOptions o = dialling(PeerId(7));
    o.keys = keys;
    o.failure_timeout = 1s;
    return o;
  }
};

}  // namespace

BOOST_AUTO_TEST_CASE(a_friend_comes_in_and_talks) {
  Guarded site;
  RecordingSink sink;
  const auto dialler = must_start(Guarded::as(site.friendly), sink);
  BOOST_REQUIRE(dialler->connect(kMasterPeer, site.listener->bound_address(), site.server.public_key).ok());
  BOOST_REQUIRE(sink.wait_for_history(kMasterPeer, "back"));
  dialler->send(kMasterPeer, {text_frame("secret"), pattern(4 << 20, 1)});
  BOOST_REQUIRE(site.at_listener.wait_for_arrivals(1));
  BOOST_TEST((site.at_listener.arrivals()[0].frames[1] == pattern(4 << 20, 1)));
  site.listener->send(PeerId(7), text_message("answer"));
  BOOST_TEST(sink.wait_for_arrivals(1));
  BOOST_TEST(site.listener->counters().refused_keys == 0u);
}

BOOST_AUTO_TEST_CASE(a_stranger_is_refused_on_both_sides_in_words) {
  Guarded site;
  RecordingSink sink;
  const auto dialler = must_start(Guarded::as(site.stranger), sink);
  BOOST_REQUIRE(dialler->connect(kMasterPeer, site.listener->bound_address(), site.server.public_key).ok());
  BOOST_REQUIRE(sink.wait_for_trouble(TroubleKind::kKeyRefused));
  BOOST_REQUIRE(site.at_listener.wait_for_trouble(TroubleKind::kKeyRefused));
  const std::string there = site.at_listener.text(TroubleKind::kKeyRefused);
  BOOST_TEST(says(there, site.stranger.public_key.text()));
  BOOST_TEST(says(there, "127.0.0.1"));
  const std::string here = sink.text(TroubleKind::kKeyRefused);
  BOOST_TEST(says(here, site.stranger.public_key.text()));
  BOOST_TEST(says(here, site.listener->bound_address()));
  BOOST_TEST(sink.history(kMasterPeer) == "");
  BOOST_TEST(site.at_listener.history(PeerId(7)) == "");
  BOOST_TEST(site.listener->counters().refused_keys >= 1u);

  // Once allowed, it comes in by itself, and was reported once however often it tried.
  site.listener->allow({site.friendly.public_key, site.stranger.public_key});
  BOOST_REQUIRE(sink.wait_for_history(kMasterPeer, "back"));
  BOOST_TEST(sink.count(TroubleKind::kKeyRefused) == 1u);
  BOOST_TEST(site.at_listener.count(TroubleKind::kKeyRefused) == 1u);
}

BOOST_AUTO_TEST_CASE(who_does_not_encrypt_is_refused_by_who_does) {
  Guarded site;
  RecordingSink sink;
  const auto dialler = must_start(Guarded::as(std::nullopt), sink);
  BOOST_REQUIRE(dialler->connect(kMasterPeer, site.listener->bound_address()).ok());
  BOOST_REQUIRE(sink.wait_for_trouble(TroubleKind::kHandshake));
  BOOST_TEST(says(sink.text(TroubleKind::kHandshake), site.listener->bound_address()));
  BOOST_TEST(site.at_listener.history(PeerId(7)) == "");
}

BOOST_AUTO_TEST_CASE(who_encrypts_is_refused_by_who_does_not) {
  RecordingSink at_listener;
  const auto listener = must_start(listening(kMasterPeer), at_listener);
  RecordingSink sink;
  const auto dialler = must_start(Guarded::as(new_keys()), sink);
  BOOST_REQUIRE(dialler->connect(kMasterPeer, listener->bound_address(), new_keys().public_key).ok());
  BOOST_REQUIRE(sink.wait_for_trouble(TroubleKind::kHandshake));
  BOOST_TEST(says(sink.text(TroubleKind::kHandshake), listener->bound_address()));
  BOOST_TEST(at_listener.history(PeerId(7)) == "");
}

BOOST_AUTO_TEST_CASE(a_listener_with_another_key_than_expected_is_not_talked_to) {
  Guarded site;
  const KeyPair other = new_keys();
  RecordingSink sink;
  const auto dialler = must_start(Guarded::as(site.friendly), sink);
  BOOST_REQUIRE(dialler->connect(kMasterPeer, site.listener->bound_address(), other.public_key).ok());
  BOOST_REQUIRE(sink.wait_for_trouble(TroubleKind::kHandshake));
  BOOST_TEST(says(sink.text(TroubleKind::kHandshake), other.public_key.text()));
  BOOST_REQUIRE(site.at_listener.wait_for_trouble(TroubleKind::kHandshake));
  BOOST_TEST(says(site.at_listener.text(TroubleKind::kHandshake), "127.0.0.1"));
  BOOST_TEST(sink.history(kMasterPeer) == "");
}

BOOST_AUTO_TEST_CASE(encryption_without_keys_of_our_own_is_an_error) {
  RecordingSink sink;
  TransportOptions options = listening(kMasterPeer);
  options.encrypt_bind = true;
  BOOST_TEST(!Transport::start(options, sink).ok());
  const auto dialler = must_start(dialling(PeerId(7)), sink);
  BOOST_TEST(!dialler->connect(kMasterPeer, "127.0.0.1:5555", new_keys().public_key).ok());
}

BOOST_AUTO_TEST_CASE(keys_survive_their_file_which_is_the_owners_alone) {
  const test::TemporaryFolder folder;
  const KeyPair keys = new_keys();
  const std::string path = folder / "node.key";
  BOOST_REQUIRE(write_key_file(path, keys).ok());
  struct stat status {};
  BOOST_REQUIRE(::stat(path.c_str(), &status) == 0);
  BOOST_TEST((status.st_mode & 0777) == 0600u);
  const Result<KeyPair> read = read_key_file(path);
  BOOST_REQUIRE(read.ok());
  BOOST_TEST((*read == keys));
  BOOST_TEST((*keys_of(keys.secret_key) == keys));

  const Result<void> again = write_key_file(path, new_keys());
  BOOST_REQUIRE(!again.ok());
  BOOST_TEST(says(again.error().message, path));
  BOOST_TEST((*read_key_file(path) == keys));

  BOOST_REQUIRE(::chmod(path.c_str(), 0640) == 0);
  const Result<KeyPair> loose = read_key_file(path);
  BOOST_REQUIRE(!loose.ok());
  BOOST_TEST(says(loose.error().message, "chmod 600"));
  BOOST_TEST(!read_key_file(folder / "none").ok());
}

BOOST_AUTO_TEST_CASE(a_key_file_with_something_else_in_it_is_refused_without_showing_it) {
  const test::TemporaryFolder folder;
  const auto write = [&](const std::string& text) {
    const std::string path = folder / "bad.key";
    std::ofstream(path) << text;
    ::chmod(path.c_str(), 0600);
    return read_key_file(path);
  };
  BOOST_TEST(!write("").ok());
  BOOST_TEST(!write("# only a comment\n").ok());
  const Result<KeyPair> bad = write("# fine\nnot-a-key-at-all\n");
  BOOST_REQUIRE(!bad.ok());
  BOOST_TEST(says(bad.error().message, ":2:"));
  BOOST_TEST(!says(bad.error().message, "not-a-key-at-all"));
  const std::string key = new_keys().secret_key.text();
  BOOST_TEST(!write(key + "\n" + key + "\n").ok());
  BOOST_TEST(write(key).ok());
}

BOOST_AUTO_TEST_CASE(a_list_of_allowed_keys_names_every_bad_line) {
  const test::TemporaryFolder folder;
  const PublicKey a = new_keys().public_key;
  const PublicKey b = new_keys().public_key;
  const std::string path = folder / "allowed";
  std::ofstream(path) << "# our nodes\n\n" << a.text() << "\n  " << b.text() << "   # the big one\n";
  const Result<std::vector<PublicKey>> keys = read_allowed_keys(path);
  BOOST_REQUIRE_MESSAGE(keys.ok(), (keys.ok() ? "" : keys.error().message));
  BOOST_TEST((*keys == std::vector<PublicKey>{a, b}));
  std::ofstream(path) << "short\n" << a.text() << "\n" << std::string(40, '~') << "\n";
  const Result<std::vector<PublicKey>> bad = read_allowed_keys(path);
  BOOST_REQUIRE(!bad.ok());
  BOOST_TEST(says(bad.error().message, path + ":1:"));
  BOOST_TEST(says(bad.error().message, path + ":3:"));
  BOOST_TEST(!says(bad.error().message, path + ":2:"));
}

BOOST_AUTO_TEST_CASE(a_list_of_keys_is_read_when_it_is_not_as_it_was) {
  const test::TemporaryFolder folder;
  const std::string path = folder / "allowed";
  const PublicKey a = new_keys().public_key;
  const PublicKey b = new_keys().public_key;
  KeyList list(path);
  const auto expect = [&](const std::vector<PublicKey>& keys) {
    const auto now = list.changed();
    BOOST_REQUIRE(now.has_value());
    BOOST_REQUIRE(now->ok());
    BOOST_TEST((now->value() == keys));
    BOOST_TEST(!list.changed().has_value());
  };
  expect({});  // not there yet: nobody was invited
  BOOST_REQUIRE(KeyList::add(path, a, "alice").ok());
  expect({a});
  BOOST_REQUIRE(KeyList::add(path, b, "bob").ok());
  expect({a, b});
  // As editors do it: another file in its place.
  std::ofstream(folder / "new") << b.text();
  std::filesystem::rename(folder / "new", path);
  expect({b});
  BOOST_REQUIRE(KeyList::add(path, a, "alice").ok());  // the last line had no end
  expect({b, a});
  std::ofstream(path) << "no key\n";
  const auto bad = list.changed();
  BOOST_REQUIRE(bad.has_value());
  BOOST_REQUIRE(!bad->ok());
  BOOST_TEST(says(bad->error().message, path + ":1:"));
  BOOST_TEST(!list.changed().has_value());  // told once
  std::filesystem::remove(path);
  expect({});
}

BOOST_AUTO_TEST_CASE(only_loopback_goes_without_encryption) {
  for (const char* address :
       {"127.0.0.1:1", "127.8.9.10:1", "[::1]:1", "localhost:1", "[::ffff:127.0.0.1]:1"})
    BOOST_TEST(!requires_encryption(address), address);
  for (const char* address : {"10.0.0.1:1", "0.0.0.0:1", "[::]:1", "[fe80::1%eth0]:1", "example:1",
                              "128.0.0.1:1", "localhost.example:1", "*:1", "[::ffff:10.0.0.1]:1"})
    BOOST_TEST(requires_encryption(address), address);
}

BOOST_AUTO_TEST_CASE(a_zap_request_that_is_none_is_refused) {
  BOOST_TEST(!parse_zap({}).ok());
  const std::vector<Frame> plain = {text_frame("1.0"), text_frame("7"),    text_frame(""),
                                    text_frame("::1"), text_frame("self"), text_frame("PLAIN")};
  const Result<ZapRequest> request = parse_zap(plain);
  BOOST_REQUIRE(request.ok());
  BOOST_TEST(request->id == "7");
  BOOST_TEST(!request->key.has_value());
  std::vector<Frame> short_key = plain;
  short_key[5] = text_frame("CURVE");
  short_key.push_back(text_frame("31 bytes are not enough........"));
  BOOST_TEST(!parse_zap(short_key)->key.has_value());
}

}  // namespace convoy
