// Runs a TensorFlow.js graph model on one input: node run_graph_model.cjs model.json weights.bin input.json outputs.json
const fs = require('fs');
const tf = require('@tensorflow/tfjs');
const { readInput, writeOutputs } = require('./arrays.cjs');

async function main(topologyFile, weightsFile, inputFile, outputFile) {
  await tf.setBackend('cpu');
  const document = JSON.parse(fs.readFileSync(topologyFile));
  const content = fs.readFileSync(weightsFile);
  const weightData = content.buffer.slice(content.byteOffset, content.byteOffset + content.length);
  const weightSpecs = document.weightsManifest.flatMap((group) => group.weights);
  const model = await tf.loadGraphModel({
    load: async () => ({ modelTopology: document.modelTopology, weightSpecs, weightData }),
  });
  const names = model.outputNodes;
  const outputs = model.execute(readInput(tf, inputFile), names);
  await writeOutputs(outputFile, names, Array.isArray(outputs) ? outputs : [outputs]);
}

main(...process.argv.slice(2));
