// SPDX-License-Identifier: GPL-2.0-only

#include "cli/show/schedule-picture.h"

#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <vector>

namespace scaleacross
{

namespace
{

/// Kinds of action, as they are drawn: forward, whole backward, its halves, both at once.
struct Look
{
    char letter;
    const char* name;
    const char* first;  //!< colour of even chunks
    const char* second; //!< of odd ones
};

const Look&
LookOf(Action action)
{
    static const Look looks[] = {{'F', "forward", "#5b8def", "#a9c4f7"},
                                 {'B', "backward", "#3aa675", "#97d4b7"},
                                 {'I', "input gradient", "#3aa675", "#97d4b7"},
                                 {'W', "weight gradient", "#e0a13c", "#f0d09a"},
                                 {'O', "optimizer", "#888888", "#888888"},
                                 {'X', "forward and backward", "#8f6fd0", "#c6b4ea"}};
    return looks[static_cast<size_t>(action)];
}

std::string
Number(double value)
{
    return fmt::format("{:.6g}", value);
}

/// Everything in pixels.
constexpr double kRow = 26;
constexpr double kBox = 20;
constexpr double kLeft = 84;
constexpr double kTop = 46;
constexpr double kGlyph = 6.2;
constexpr double kLeastBox = 3; //!< an action is at least this wide, as far as kWidest allows
constexpr double kNarrow = 1100;
constexpr double kWidest = 6000;

/// A step of 1, 2 or 5 times a power of ten, of which about ten fill `span`.
double
TickOf(double span)
{
    const double rough = span / 10;
    const double power = std::pow(10, std::floor(std::log10(rough)));
    const double factor = rough / power;
    return power * (factor > 5 ? 10 : factor > 2 ? 5 : factor > 1 ? 2 : 1);
}

std::string
Describe(const ScheduledPass& entry)
{
    std::string text = fmt::format("{} of microbatch {}, chunk {}",
                                   LookOf(entry.action).name,
                                   entry.microbatch,
                                   entry.chunk);
    if (entry.action == Action::ForwardBackward)
    {
        text = fmt::format("forward of microbatch {}, chunk {} and backward of {}, chunk {}",
                           entry.microbatch,
                           entry.chunk,
                           entry.backMicrobatch,
                           entry.backChunk);
    }
    return text + ": " + ToString(entry.begin) + " to " + ToString(entry.end);
}

class Drawing
{
  public:
    Drawing(const PipelineShape& shape, const ScheduleRun& run)
        : m_shape(shape),
          m_run(run)
    {
        Duration shortest = run.makespan;
        for (const ScheduledPass& entry : run.timeline)
        {
            if (entry.end > entry.begin)
            {
                shortest = std::min(shortest, entry.end - entry.begin);
            }
        }
        const double wanted = kLeastBox * run.makespan.S() / shortest.S();
        m_width = std::clamp(wanted, kNarrow, kWidest);
    }

    std::string Text()
    {
        const double height = kTop + kRow * m_shape.ranks;
        const double right = kLeft + m_width + 20;
        m_text =
            fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
                        "viewBox=\"0 0 {0} {1}\" font-family=\"sans-serif\" font-size=\"11\">\n"
                        "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
                        Number(right),
                        Number(height + 74));
        Title();
        for (uint32_t r = 0; r < m_shape.ranks; r++)
        {
            Rank(r);
        }
        for (const ScheduledPass& entry : m_run.timeline)
        {
            Box(entry);
        }
        Axis(height);
        Legend(height + 44);
        return m_text + "</svg>\n";
    }

  private:
    double X(Duration time) const
    {
        return kLeft + m_width * time.S() / m_run.makespan.S();
    }

    static double Y(uint32_t rank)
    {
        return kTop + kRow * rank;
    }

    void Words(double x, double y, const std::string& style, const std::string& text)
    {
        m_text += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\"{}>{}</text>\n", x, y, style, text);
    }

    void Title()
    {
        Words(kLeft,
              20,
              " font-size=\"14\" font-weight=\"bold\"",
              fmt::format("{}: {} stages, {} microbatches, {} chunk{}",
                          ToString(m_shape.schedule),
                          m_shape.ranks,
                          m_shape.microbatches,
                          m_shape.chunks,
                          m_shape.chunks > 1 ? "s" : ""));
        Words(kLeft,
              36,
              " fill=\"#555555\"",
              fmt::format("makespan {}, bubble {:.2f} %, at most {} microbatches held",
                          ToString(m_run.makespan),
                          100 * m_run.bubbleFraction,
                          Number(*std::max_element(m_run.peak.begin(), m_run.peak.end()))));
    }

    void Rank(uint32_t rank)
    {
        const bool begins = rank > 0 && m_run.buildings[rank] != m_run.buildings[rank - 1];
        if (begins)
        {
            m_text += fmt::format("<line x1=\"4\" y1=\"{0:.1f}\" x2=\"{1:.1f}\" y2=\"{0:.1f}\" "
                                  "stroke=\"#cc3333\" stroke-dasharray=\"6 4\"/>\n",
                                  Y(rank) + (kRow - kBox) / 4 - 1,
                                  kLeft + m_width);
        }
        Words(kLeft - 8,
              Y(rank) + kRow / 2 + 4,
              " text-anchor=\"end\"",
              fmt::format("rank {}", rank));
        m_text += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" "
                              "fill=\"#f2f2f2\"/>\n",
                              kLeft,
                              Y(rank) + (kRow - kBox) / 2,
                              m_width,
                              kBox);
    }

    void Box(const ScheduledPass& entry)
    {
        if (entry.begin == entry.end || entry.action == Action::Optimizer)
        {
            return;
        }
        const Look& look = LookOf(entry.action);
        const double x = X(entry.begin);
        const double width = X(entry.end) - x;
        const double y = Y(entry.stage) + (kRow - kBox) / 2;
        m_text += fmt::format("<g><title>{}</title><rect x=\"{:.2f}\" y=\"{:.1f}\" "
                              "width=\"{:.2f}\" height=\"{:.1f}\" fill=\"{}\" stroke=\"#ffffff\" "
                              "stroke-width=\"0.5\"/>",
                              Describe(entry),
                              x,
                              y,
                              width,
                              kBox,
                              entry.chunk % 2 == 0 ? look.first : look.second);
        std::string label = std::to_string(entry.microbatch);
        if (entry.action == Action::ForwardBackward)
        {
            label += "/" + std::to_string(entry.backMicrobatch);
        }
        if (kGlyph * static_cast<double>(label.size()) + 2 <= width)
        {
            m_text += fmt::format("<text x=\"{:.2f}\" y=\"{:.1f}\" text-anchor=\"middle\" "
                                  "font-size=\"10\">{}</text>",
                                  x + width / 2,
                                  y + kBox / 2 + 3.5,
                                  label);
        }
        m_text += "</g>\n";
    }

    void Axis(double y)
    {
        const double span = m_run.makespan.S();
        const double tick = TickOf(span);
        m_text += fmt::format("<line x1=\"{0:.1f}\" y1=\"{2:.1f}\" x2=\"{1:.1f}\" y2=\"{2:.1f}\" "
                              "stroke=\"#333333\"/>\n",
                              kLeft,
                              kLeft + m_width,
                              y + 2);
        for (int i = 0; i * tick <= span * (1 + 1e-9); i++)
        {
            const Duration at = Duration::Seconds(i * tick);
            m_text += fmt::format("<line x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{0:.1f}\" "
                                  "y2=\"{2:.1f}\" stroke=\"#333333\"/>\n",
                                  X(at),
                                  y + 2,
                                  y + 7);
            Words(X(at), y + 20, " text-anchor=\"middle\"", ToString(at));
        }
    }

    /// Of what there is.
    void Legend(double y)
    {
        double x = kLeft;
        for (const Action action : {Action::Forward,
                                    Action::Backward,
                                    Action::InputGradient,
                                    Action::WeightGradient,
                                    Action::ForwardBackward})
        {
            for (uint32_t odd = 0; odd < 2; odd++)
            {
                const bool is =
                    std::any_of(m_run.timeline.begin(),
                                m_run.timeline.end(),
                                [&](const ScheduledPass& entry) {
                                    return entry.action == action && entry.chunk % 2 == odd;
                                });
                if (!is)
                {
                    continue;
                }
                const Look& look = LookOf(action);
                const std::string chunk = m_shape.chunks == 1   ? ""
                                          : m_shape.chunks == 2 ? fmt::format(", chunk {}", odd)
                                          : odd == 0            ? ", even chunks"
                                                                : ", odd chunks";
                const std::string text = look.name + chunk;
                m_text += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"12\" height=\"12\" "
                                      "fill=\"{}\"/>\n",
                                      x,
                                      y - 10,
                                      odd == 0 ? look.first : look.second);
                Words(x + 17, y, "", text);
                x += 36 + kGlyph * static_cast<double>(text.size());
                if (x > kLeft + m_width - 200)
                {
                    x = kLeft;
                    y += 16;
                }
            }
        }
    }

    const PipelineShape& m_shape;
    const ScheduleRun& m_run;
    double m_width{0};
    std::string m_text;
};

} // namespace

std::string
ScheduleText(const PipelineShape& shape, const ScheduleRun& run, uint32_t columns)
{
    std::vector<std::string> lines(shape.ranks, std::string(columns, '.'));
    const auto columnOf = [&](Duration time) {
        return static_cast<size_t>(std::llround(columns * (time.S() / run.makespan.S())));
    };
    for (const ScheduledPass& entry : run.timeline)
    {
        const size_t begin = columnOf(entry.begin);
        const size_t width = columnOf(entry.end) - begin;
        if (width == 0 || entry.action == Action::Optimizer)
        {
            continue;
        }
        const char upper = LookOf(entry.action).letter;
        const char letter = entry.chunk % 2 == 0 ? upper : static_cast<char>(upper - 'A' + 'a');
        std::string cell = letter + std::to_string(entry.microbatch);
        if (entry.action == Action::ForwardBackward)
        {
            cell += "/" + std::to_string(entry.backMicrobatch);
        }
        // A number that is cut off would be another number.
        cell = cell.size() <= width ? cell : std::string(1, letter);
        cell.resize(width, cell.size() > 1 ? '-' : letter);
        lines[entry.stage].replace(begin, width, cell);
    }
    std::string text;
    for (uint32_t r = 0; r < shape.ranks; r++)
    {
        if (r > 0 && run.buildings[r] != run.buildings[r - 1])
        {
            text += fmt::format("      {}\n", std::string(columns, '~'));
        }
        text += fmt::format("{:>4}  {}\n", r, lines[r]);
    }
    return text;
}

std::string
ScheduleSvg(const PipelineShape& shape, const ScheduleRun& run)
{
    return Drawing(shape, run).Text();
}

} // namespace scaleacross
