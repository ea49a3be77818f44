"""Random ONNX models of every operator set, against ONNX Runtime and ONNX's references."""
