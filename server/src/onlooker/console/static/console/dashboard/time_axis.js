// Words below the time chart: as many as have room, by the clock of the stream's zone, never of the browser's.
import { FONT } from "./theme.js";

const HOUR_PX = 44;
const DAY_PX = 72;
const EVERY_MINUTES = [15, 30, 60, 120, 180, 360, 720, 1440];

export function axisLabels(points, band_px) {
  const isByHour = points.some(({ key }) => clock(key) !== "00:00") || points.some(({ label }) => label.includes(":"));
  if (!isByHour) {
    const alignMaxLabel = band_px < DAY_PX ? "right" : undefined; // or the drawing's edge would cut it
    return { ...FONT, hideOverlap: true, alignMaxLabel, formatter: (_, index) => points[index].label };
  }
  const isOneDay = points.every(({ key }) => key.startsWith(points[0].key.slice(0, 10)));
  const least_px = isOneDay ? HOUR_PX : DAY_PX;
  const isFine = points.some(({ key }) => clock(key).endsWith(":15") || clock(key).endsWith(":45"));
  const bucket_min = isFine ? 15 : 60;
  const isWide = (minutes) => minutes >= bucket_min && (minutes / bucket_min) * band_px >= least_px;
  const every = EVERY_MINUTES.find(isWide) ?? 1440;
  const minutes = (key) => 60 * Number(clock(key).slice(0, 2)) + (isFine ? Number(clock(key).slice(3)) : 0);
  return {
    ...FONT,
    hideOverlap: true,
    interval: (index) => minutes(points[index].key) % every === 0,
    formatter: (_, index) => hourLabel(points[index], isOneDay),
  };
}

// Midnight is called by its day, where there are several.
function hourLabel({ key, label }, isOneDay) {
  return isOneDay || clock(key) !== "00:00" ? clock(key) : label.slice(0, label.indexOf(clock(key))).trim();
}

const clock = (key) => key.slice(11, 16);
