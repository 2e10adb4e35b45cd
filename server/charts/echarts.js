// What our charts need of Apache ECharts; `just charts` bundles it to src/onlooker/console/static/console/vendor/echarts.js.
//
// As SVG, not canvas: it prints sharply, and its colours can be variables of the stylesheet.
import { BarChart, CustomChart, HeatmapChart, LineChart, PieChart } from "echarts/charts";
import { GridComponent, TooltipComponent } from "echarts/components";
import { init, use } from "echarts/core";
import { SVGRenderer } from "echarts/renderers";

use([BarChart, CustomChart, HeatmapChart, LineChart, PieChart, GridComponent, TooltipComponent, SVGRenderer]);

export { init };
