import type { Participant } from "@human-plus/surface";

const PALETTE = ["#3554d1", "#b4451f", "#1f7a5c", "#8a3ab0", "#a3680a", "#0b7285"] as const;

/** The colour an agent asked for, else one that stays the same for its id. */
export function colorOf({ id, color }: Pick<Participant, "id" | "color">): string {
  if (color !== undefined) return color;
  const sum = [...id].reduce((total, character) => total + (character.codePointAt(0) ?? 0), 0);
  return PALETTE[sum % PALETTE.length] ?? PALETTE[0];
}

/** Black or white, whichever can be read better on a colour (`#rgb` or `#rrggbb`). */
export function inkOn(color: string): "#000000" | "#ffffff" {
  const digits = color.slice(1);
  const pairs = digits.length === 3 ? [...digits].map((digit) => digit + digit) : (digits.match(/../g) ?? []);
  const [red = 0, green = 0, blue = 0] = pairs.map((pair) => {
    const value = Number.parseInt(pair, 16) / 255;
    return value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179 ? "#000000" : "#ffffff";
}
