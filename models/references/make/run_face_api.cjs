// Runs one of face-api's own nets on one input:
// node run_face_api.cjs FaceExpressionNet|AgeGenderNet weights.bin manifest.json input.json outputs.json
const fs = require('fs');
const faceapi = require('@vladmandic/face-api/dist/face-api.node-wasm.js');
const { readInput, writeOutputs } = require('./arrays.cjs');

// What a net answers, softmax included, by the names of our outputs.
const outputsOf = {
  FaceExpressionNet: (probabilities) => ({ probabilities }),
  AgeGenderNet: ({ age, gender }) => ({ age: faceapi.tf.reshape(age, [-1, 1]), gender }),
};

async function main(netName, weightsFile, manifestFile, inputFile, outputFile) {
  const tf = faceapi.tf;
  await tf.setBackend('cpu');
  const manifest = JSON.parse(fs.readFileSync(manifestFile));
  const fetchWeights = async () => [new Uint8Array(fs.readFileSync(weightsFile)).buffer];
  const net = new faceapi[netName]();
  net.loadFromWeightMap(await tf.io.weightsLoaderFactory(fetchWeights)(manifest, ''));
  const input = new faceapi.NetInput([tf.squeeze(readInput(tf, inputFile), [0])]);
  const outputs = outputsOf[netName](await net.forwardInput(input));
  await writeOutputs(outputFile, Object.keys(outputs), Object.values(outputs));
}

main(...process.argv.slice(2));
