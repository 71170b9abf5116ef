mod coverage;
mod distortion;
mod distortions;
mod server;
mod whole;
