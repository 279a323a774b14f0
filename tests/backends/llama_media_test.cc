// Images and sounds: the same tokens as llama.cpp's own way, alone and together with others, at once and in parts.
#include "backends/llama_media.h"
#include "backends/llama_decoder.h"
#include "backends/llama_media_native.h"

namespace wasinn::test {
namespace {

using nlohmann::json;

constexpr int32_t kPredict = 24;

// ChatML's form of a message with `inside`.
std::string ChatPrompt(const std::string& inside) {
  return "<|im_start|>user\n" + inside + "<|im_end|>\n<|im_start|>assistant\n";
}

const NativeMedia& NativeOf(const std::string& projector) {
  static std::map<std::string, NativeMedia> all;
  const std::string model = projector == "see_places.gguf" ? ProjectorPath("places.gguf") : ModelPath("tiny.gguf");
  return all.try_emplace(projector, model, ProjectorPath(projector)).first->second;
}

struct MediaCase {
  const char* projector;
  const char* parallel;
  int batch;  // the most tokens of one call; 0: as it is
};

class LlamaMedia : public ::testing::TestWithParam<MediaCase> {
 protected:
  LlamaMedia() : model_(host_, Options()) {}

  static bool has_places() { return std::string(GetParam().projector) == "see_places.gguf"; }
  static LoadOptions Options() {
    json config = {{"parallel", std::stoi(GetParam().parallel)}};
    if (GetParam().batch > 0) config["batch-size"] = config["ubatch-size"] = GetParam().batch;
    return MediaOptions(has_places() ? ProjectorPath("places.gguf") : ModelPath("tiny.gguf"), GetParam().projector,
                        config);
  }

  // An image with a text around it: what is said, and what llama.cpp says.
  static std::string Say(Context* context, const std::string& before, const std::string& file,
                         const std::string& after) {
    if (!has_places())
      return Answer(context, {TextPart(before), ImagePart(DataUrl("image/png", file)), TextPart(after)});
    EXPECT_TRUE(SetPrompt(context, before + "<img src=\"" + DataUrl("image/png", file) + "\">" + after));
    return Complete(context);
  }
  static std::string Expected(const std::string& before, const std::string& file, const std::string& after) {
    const std::string text = before + kNativeMarker + after;
    const int32_t batch = GetParam().batch > 0 ? GetParam().batch : 2048;
    return Characters(
        NativeOf(GetParam().projector)
            .Complete({.text = has_places() ? text : ChatPrompt(text), .images = {Decoded(file)}, .sounds = {}},
                      kPredict, batch));
  }

  const Host host_;
  const FileModel model_;
};

INSTANTIATE_TEST_SUITE_P(Projectors, LlamaMedia,
                         ::testing::Values(MediaCase{"see.gguf", "0", 0}, MediaCase{"see.gguf", "0", 8},
                                           MediaCase{"see.gguf", "3", 0}, MediaCase{"see.gguf", "3", 8},
                                           MediaCase{"see_whole.gguf", "0", 0}, MediaCase{"see_whole.gguf", "3", 8},
                                           MediaCase{"see_places.gguf", "0", 0}, MediaCase{"see_places.gguf", "0", 8},
                                           MediaCase{"see_places.gguf", "3", 8}));

TEST_P(LlamaMedia, GivesTheTextOfLlamaCpp) {
  Context context(model_);
  std::set<std::string> said;
  for (const std::string& file :
       {Png(Picture(32, 32, 1)), Png(Picture(97, 41, 2)), Bmp(Picture(40, 64, 3)), Png(Picture(1, 1, 4))}) {
    const std::string expected = Expected("Look: ", file, " What is it?");
    EXPECT_EQ(Say(&context, "Look: ", file, " What is it?"), expected);
    said.insert(expected);
  }
  EXPECT_GT(said.size(), 1U) << "the image matters";
}

TEST_P(LlamaMedia, ReusesAnEvaluatedImage) {
  const std::string file = Png(Picture(64, 48, 1)), other = Png(Picture(64, 48, 2));
  Context context(model_);
  EXPECT_EQ(Say(&context, "a", file, "b c"), Expected("a", file, "b c"));
  const auto whole = Metadata(&context)["evaluated_tokens"].get<size_t>();
  EXPECT_EQ(whole, Metadata(&context)["input_tokens"]);
  EXPECT_EQ(Say(&context, "a", file, "b d"), Expected("a", file, "b d"));
  EXPECT_LT(Metadata(&context)["evaluated_tokens"], whole - 3) << "not the image";
  // An image of the same size, whose tokens cannot be distinguished from the first one's.
  EXPECT_EQ(Say(&context, "a", other, "b c"), Expected("a", other, "b c"));
  EXPECT_GT(Metadata(&context)["evaluated_tokens"], whole - 30) << "all of the image";
  EXPECT_EQ(Say(&context, "a", file, "b c"), Expected("a", file, "b c"));
}

TEST_P(LlamaMedia, IsSavedWithAState) {
  const std::string file = Png(Picture(32, 32, 1)), other = Png(Picture(32, 32, 2));
  Account guest;
  Context first(model_, 0, "{}", &guest), second(model_, 0, "{}", &guest);
  const json chat = has_places() ? json::object() : json{{"chat", true}};
  const auto ask = [&](Context* context, const std::string& image, json options) {
    options.update(chat);
    EXPECT_TRUE(SetOptions(context, options.dump()));
    const std::string url = DataUrl("image/png", image);
    EXPECT_TRUE(SetPrompt(context, has_places() ? "a<img src=\"" + url + "\">bcd"
                                                : Messages({TextPart("a"), ImagePart(url), TextPart("bcd")})));
    return Complete(context);
  };
  const std::string expected = ask(&first, file, {{"save-state", "seen"}});
  EXPECT_EQ(ask(&second, file, {{"restore-state", "seen"}}), expected);
  EXPECT_GT(Metadata(&second)["restored_tokens"], 4);
  EXPECT_EQ(ask(&second, other, {{"restore-state", "seen"}, {"cache-prompt", false}}), Expected("a", other, "bcd"));
  EXPECT_LT(Metadata(&second)["restored_tokens"], 30);
}

TEST(LlamaMediaParallel, GuestsWithAndWithoutImagesGetTheSameTextAsAlone) {
  const Host host;
  const FileModel model(host, TinyMediaOptions("see.gguf", {{"parallel", 3}}));
  std::vector<std::thread> threads;
  for (uint32_t i = 0; i < 6; ++i) {
    threads.emplace_back([&, i] {
      const std::string file = Png(Picture(32, 32, i));
      std::vector<json> parts = {TextPart("Tell of number " + std::to_string(i))};
      NativeMediaPrompt native = {
          .text = ChatPrompt("Tell of number " + std::to_string(i)), .images = {}, .sounds = {}};
      if (i % 2 == 0) {
        parts.push_back(ImagePart(DataUrl("image/png", file)));
        native.text = ChatPrompt("Tell of number " + std::to_string(i) + kNativeMarker);
        native.images.push_back(Decoded(file));
      }
      static std::mutex mutex;
      std::string expected;
      {
        const std::lock_guard lock(mutex);  // mtmd's contexts are of one thread at a time
        expected = Characters(NativeOf("see.gguf").Complete(native, kPredict));
      }
      Context context(model);
      for (int n = 0; n < 3; ++n)
        EXPECT_EQ(Answer(&context, parts, {{"chat", true}, {"cache-prompt", n == 1}}), expected) << i;
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// An image does not go with that, but the same context does.
TEST(LlamaMediaBeside, GuestsThatDecodeThemselvesWork) {
  const Host host;
  const Tokens text = {1, 5, 9, 5};
  const json image = ImagePart(DataUrl("image/png", Png(Picture(32, 32, 1)))),
             another = ImagePart(DataUrl("image/png", Png(Picture(32, 32, 2))));
  for (const int parallel : {0, 1}) {
    const FileModel model(host, TinyMediaOptions("see.gguf", {{"parallel", parallel}}));
    std::string said, other;
    Tokens chosen;
    {
      Context sees(model);
      said = Answer(&sees, {image});
    }
    {
      Context sees(model);
      other = Answer(&sees, {another});
    }
    {
      Context chooses(model);
      chosen = DecodeGreedily(&chooses, text, 6);
    }
    Context both(model);
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(Answer(&both, {image}), said);
      ASSERT_TRUE(SetPrompt(&both, ""));
      EXPECT_EQ(DecodeGreedily(&both, text, 6), chosen);
      EXPECT_EQ(Answer(&both, {another}), other);
    }
  }
}

TEST(LlamaMediaBeside, NothingIsDraftedAfterAnImage) {
  const Host host;
  const FileModel plain(host, TinyMediaOptions("see.gguf"));
  const FileModel drafted(host,
                          TinyMediaOptions("see.gguf", {{"draft", ModelPath("tiny.gguf")}, {"draft-p-min", 0.0}}));
  Context alone(plain), context(drafted);
  const std::vector<json> sees = {TextPart("Tell of "), ImagePart(DataUrl("image/png", Png(Picture(32, 32, 1))))},
                          reads = {TextPart("Tell of oats")};
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(Answer(&context, sees), Answer(&alone, sees));
    EXPECT_EQ(Metadata(&context)["drafted_tokens"], 0);
    EXPECT_EQ(Answer(&context, reads), Answer(&alone, reads));
    EXPECT_GT(Metadata(&context)["drafted_tokens"], 0);
  }
}

TEST(LlamaMediaParts, SeveralImagesKeepTheirOrder) {
  const Host host;
  const FileModel model(host, TinyMediaOptions("see.gguf"));
  const std::string first = Png(Picture(32, 32, 1)), second = Png(Picture(32, 32, 2));
  const auto url = [](const std::string& file) { return DataUrl("image/png", file); };
  Context context(model);
  const auto expected = [&](const std::string& a, const std::string& b) {
    return Characters(NativeOf("see.gguf")
                          .Complete({.text = ChatPrompt(std::string(kNativeMarker) + kNativeMarker + "Which?"),
                                     .images = {Decoded(a), Decoded(b)},
                                     .sounds = {}},
                                    kPredict));
  };
  for (const auto& [a, b] : {std::pair(first, second), std::pair(second, first), std::pair(first, first)}) {
    EXPECT_EQ(Answer(&context, {ImagePart(url(a)), ImagePart(url(b)), TextPart("Which?")}), expected(a, b));
  }
  // As other programs write them: the URL itself, an escaped slash, no padding.
  const auto answer = [&](const std::string& messages) {
    EXPECT_TRUE(SetPrompt(&context, messages));
    return Complete(&context);
  };
  const std::string said = Answer(&context, {ImagePart(url(first)), TextPart("Which?")});
  std::string escaped = url(first);
  for (size_t at = 0; (at = escaped.find('/', at)) != std::string::npos; at += 2) escaped.replace(at, 1, "\\/");
  EXPECT_EQ(answer(R"([{"role": "user", "content": [{"type": "image_url", "image_url": ")" + escaped +
                   R"("}, {"type": "text", "text": "Which?"}]}])"),
            said);
  std::string unpadded = url(first);
  unpadded.erase(unpadded.find_last_not_of('=') + 1);
  EXPECT_EQ(Answer(&context, {ImagePart(unpadded), TextPart("Which?")}), said);
}

TEST(LlamaMediaParts, OtherFormatsAreRead) {
  const Host host;
  const FileModel model(host, TinyMediaOptions("see.gguf"));
  Context context(model);
  // An image of one colour, which all decoders read alike.
  Pixels gray = Picture(32, 32, 1);
  std::ranges::fill(gray.rgb, uint8_t{128});
  const std::string said = Answer(&context, {ImagePart(DataUrl("image/png", Png(gray)))});
  EXPECT_EQ(Answer(&context, {ImagePart(DataUrl("image/jpeg", Jpeg(gray)))}), said);
  EXPECT_EQ(Answer(&context, {ImagePart(DataUrl("image/bmp", Bmp(gray)))}), said);
  EXPECT_EQ(Answer(&context, {ImagePart(DataUrl("", Png(gray)))}), said) << "the type is in the file";
}

TEST(LlamaMediaParts, AMarkerInATextIsText) {
  const Host host;
  const FileModel model(host, TinyMediaOptions("see.gguf"));
  Context context(model);
  const std::string file = Png(Picture(32, 32, 1));
  const std::vector<json> parts = {TextPart(kNativeMarker), ImagePart(DataUrl("image/png", file))};
  EXPECT_THAT(Answer(&context, parts), ::testing::Not(HasSubstr("error")));
  const size_t markers =
      NativeOf("see.gguf").CountTokens({.text = ChatPrompt(kNativeMarker), .images = {Decoded(file)}, .sounds = {}});
  EXPECT_GT(Metadata(&context)["input_tokens"], markers) << "it has tokens of its own";
  // So is what has the form of an image, in a message.
  const std::string tag = "<img src=\"" + DataUrl("image/png", file) + "\">";
  EXPECT_THAT(Answer(&context, {TextPart(tag.substr(0, 200))}), ::testing::Not(HasSubstr("error")));
}

TEST(LlamaMediaSound, GivesTheTextOfLlamaCpp) {
  const Host host;
  const FileModel model(host, TinyMediaOptions("hear.gguf"));
  constexpr uint32_t kRate = 16000;
  Context context(model);
  const auto expected = [](const std::vector<float>& samples) {
    return Characters(
        NativeOf("hear.gguf")
            .Complete({.text = ChatPrompt(std::string("Listen: ") + kNativeMarker), .images = {}, .sounds = {samples}},
                      kPredict));
  };
  for (const double seconds : {0.5, 3.0}) {
    const std::vector<float> tone = Tone(kRate, seconds);
    EXPECT_EQ(Answer(&context, {TextPart("Listen: "), SoundPart(Wav(kRate, tone))}), expected(tone));
  }
  // At another rate it is nearly the same sound.
  EXPECT_THAT(Answer(&context, {TextPart("Listen: "), SoundPart(Wav(44100, Tone(44100, 3)))}),
              ::testing::Not(HasSubstr("error")));
  EXPECT_THAT(Answer(&context, {ImagePart(DataUrl("image/png", Png(Picture(8, 8, 1))))}), HasSubstr("no images"));
}

TEST(LlamaMediaModel, DescribesTheMediaThatItAccepts) {
  const Host host;
  const FileModel sees(host, TinyMediaOptions("see.gguf")), hears(host, TinyMediaOptions("hear.gguf"));
  const auto described = [&](const Model& model) { return json::parse(host.table().describe(model.get())); };
  EXPECT_EQ(described(sees)["images"], true);
  EXPECT_EQ(described(sees)["sounds"], false);
  EXPECT_EQ(described(hears)["images"], false);
  EXPECT_EQ(described(hears)["sounds"], true);
}

TEST(LlamaMediaModel, OnlyHostsNameProjectors) {
  const Host host;
  const auto refused = [&](const LoadOptions& options) {
    return Model(host, ReadFile(options.path), options).loaded().message;
  };
  EXPECT_THAT(refused(LlamaOptions(R"({"projector": "see.gguf"})", ModelPath("tiny.gguf"))),
              HasSubstr("absolute path"));
  EXPECT_THAT(refused(TinyMediaOptions("none.gguf")), HasSubstr("none.gguf"));
  EXPECT_THAT(refused(TinyMediaOptions("places.gguf")), HasSubstr("projector")) << "a language model";
  EXPECT_THAT(refused(TinyMediaOptions("see_places.gguf")), HasSubstr("mismatch")) << "another model's";
  // A guest names none: the key is unknown, as any other.
  const FileModel model(host, LlamaOptions("{}", ModelPath("tiny.gguf")));
  Context context(model, 0, json{{"projector", ProjectorPath("see.gguf")}}.dump());
  EXPECT_THAT(host.log(), HasSubstr("unknown keys: projector"));
  EXPECT_THAT(Answer(&context, {ImagePart(DataUrl("image/png", Png(Picture(8, 8, 1))))}),
              HasSubstr("it has no projector"));
  EXPECT_THAT(CompleteWith(&context, R"({"mmproj": "see.gguf"})"), HasSubstr("only the host can name"));
  // If the host has named one, a guest's program that names its own still works.
  const FileModel sees(host, TinyMediaOptions("see.gguf"));
  Context seeing(sees);
  EXPECT_THAT(Answer(&seeing, {ImagePart(DataUrl("image/png", Png(Picture(8, 8, 1))))},
                     {{"chat", true}, {"mmproj", "see.gguf"}}),
              ::testing::Not(HasSubstr("error")));
}

}  // namespace
}  // namespace wasinn::test
